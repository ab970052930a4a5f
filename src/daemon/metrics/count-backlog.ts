import { fileURLToPath } from "node:url";
import type { LedgerCursor } from "../../core/ledger/after/cursor.ts";
import type { EncodedUsageMetrics } from "../../core/metrics/usage-metrics.ts";
import type { PriceSettings } from "../../core/config/config.ts";
import { runThread } from "../run-thread.ts";
import type { LedgerPlace } from "./count-after.ts";

/** What is to be counted. */
export interface BacklogQuestion extends LedgerPlace {
  /** What was counted before. */
  usage: EncodedUsageMetrics;
  prices: PriceSettings;
}

/** What was counted by then, and up to where. */
export interface Backlog {
  usage: EncodedUsageMetrics;
  cursor: LedgerCursor;
}

/** As it was built, also where the source runs: tsx does not compile what a worker loads. */
const PROGRAM = fileURLToPath(import.meta.resolve("#package/dist/daemon/metrics/count-ledger.js"));

/** Counts much of a ledger in a thread of its own, so that requests wait for nothing. Rejects when it cannot be read. */
export function countBacklog(question: BacklogQuestion): Promise<Backlog> {
  return runThread<Backlog>(PROGRAM, question);
}
