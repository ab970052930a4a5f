import { on } from "node:events";
import { Worker } from "node:worker_threads";
import { Failure } from "../../core/failure.ts";
import type { DaySums } from "../../core/ledger/day-sums.ts";
import type { WorkerReply } from "./protocol.ts";
import type { DaySummer, DayToRead, LedgerQuestion, ReadDay } from "./sum-day.ts";

/** Always that of the build: tsx does not load TypeScript in workers. */
const WORKER = new URL(import.meta.resolve("#package/dist/cli/sums/worker.js"));

/** Records are garbage at once: with more memory a worker is not faster, and takes more. */
const YOUNG_GENERATION_MB = 4;

/** Yields days in their order, which so many workers have read, in turns. */
export async function* sumInWorkers(
  question: LedgerQuestion,
  days: readonly DayToRead[],
  count: number,
  summer: DaySummer,
): AsyncGenerator<ReadDay, void> {
  const limits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
  const workers = Array.from(
    { length: count },
    () => new Worker(WORKER, { workerData: question, resourceLimits: limits }),
  );
  try {
    const replies = workers.map((worker) => on(worker, "message") as AsyncIterator<[WorkerReply]>);
    for (const [at, day] of days.entries()) workers[at % count]?.postMessage(day);
    for (const at of days.keys()) {
      const next = await replies[at % count]?.next();
      if (next !== undefined) yield decode(next.value[0], summer.create());
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function decode(reply: WorkerReply, sums: DaySums): ReadDay {
  if ("error" in reply) throw new Failure(reply.error, reply.hint);
  if (!("sums" in reply)) return reply;
  sums.addEncoded(reply.sums);
  return { sums, skipped: reply.skipped };
}
