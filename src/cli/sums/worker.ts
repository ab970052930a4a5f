import { parentPort, workerData } from "node:worker_threads";
import { Failure, messageOf } from "../../core/failure.ts";
import type { WorkerReply } from "./protocol.ts";
import { DaySummer, type LedgerQuestion } from "./sum-day.ts";

const summer = DaySummer.load(workerData as LedgerQuestion);

/** Days are answered one after the other, in the order in which they were sent. */
let last = Promise.resolve();

parentPort?.on("message", (day: string) => {
  last = last.then(async () => {
    const reply = await answer(day);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(reply);
  });
});

/** Sums a day. An error is returned as data, because its class would be lost on the way. */
async function answer(day: string): Promise<WorkerReply> {
  try {
    const { sums, unreadable } = await (await summer).sum(day);
    return { sums: sums.encode(), unreadable };
  } catch (error) {
    return { error: messageOf(error), hint: error instanceof Failure ? error.hint : undefined };
  }
}
