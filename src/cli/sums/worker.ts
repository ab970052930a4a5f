import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/failure.ts";
import type { WorkerReply } from "./protocol.ts";
import { DaySummer, type DayToRead, type LedgerQuestion } from "./sum-day.ts";
import { fixOf } from "../../adapters/system-fix.ts";

const summer = DaySummer.load(workerData as LedgerQuestion);

/** Days are answered one after the other, in the order in which they were sent. */
let last = Promise.resolve();

parentPort?.on("message", (day: DayToRead) => {
  last = last.then(async () => {
    const reply = await answer(day);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(reply);
  });
});

/** Sums a day. An error is returned as data, because its class would be lost on the way. */
async function answer(day: DayToRead): Promise<WorkerReply> {
  try {
    const read = await (await summer).read(day);
    return "sums" in read ? { sums: read.sums.encode(), skipped: read.skipped } : read;
  } catch (error) {
    return { error: messageOf(error), hint: fixOf(error) };
  }
}
