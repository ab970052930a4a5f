import { parentPort, workerData } from "node:worker_threads";
import { findCreated } from "../../adapters/ledger-file.ts";
import { countBudgets } from "../budgets/counter.ts";
import { closeLedgerDays } from "../housekeeping/close-ledger-days.ts";
import { countMetrics } from "../metrics/count-after.ts";
import { sumUpRecent } from "../statusline/sum-up-recent.ts";

// A thread's program: does one task and ends. Its heap goes with it; in the daemon's own heap, what the records of a busy day take while
// they are read would stay (docs/statusline.md).

const TASKS = {
  budgets: countBudgets,
  statusline: sumUpRecent,
  metrics: countMetrics,
  housekeeping: closeLedgerDays,
  creators: findCreated,
};

export type Tasks = typeof TASKS;

const { name, given } = workerData as { name: keyof Tasks; given: [never, never, never] };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(await TASKS[name](...given));
