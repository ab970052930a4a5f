import { parentPort, workerData } from "node:worker_threads";
import { loadPriceBook } from "../../adapters/price-table.ts";
import { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import { countAfter } from "./count-after.ts";
import type { Backlog, BacklogQuestion } from "./count-backlog.ts";

// A thread's program: counts what metrics have not counted yet, and ends. Its heap goes with it.

const question = workerData as BacklogQuestion;
const usage = new UsageMetrics(question.usage);
let { cursor } = question;
await countAfter(question, usage, await loadPriceBook(question.prices), (after) => {
  cursor = after;
  return true;
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage({ usage: usage.encode(), cursor } satisfies Backlog);
