import { fileURLToPath } from "node:url";
import type { RecentDocument } from "../../core/ledger/recent-spending.ts";
import { runThread } from "../run-thread.ts";

/** What is to be read. */
export interface HistoryQuestion {
  /** Of the ledger. */
  directory: string;
  /** The first day, in UTC, `YYYY-MM-DD`. */
  from: string;
  /** Wall time in milliseconds since 1970. */
  now: number;
  /** The sizes that prompts are told apart by: `PriceBook.allLimits`. */
  limits: readonly number[];
}

/** What was spent before the question. */
export interface History {
  recent: RecentDocument;
  /** Ids of all records in it that may have been written since the question. */
  lastIds: readonly string[];
}

/** As it was built, also where the source runs: tsx does not compile what a worker loads. */
const PROGRAM = fileURLToPath(import.meta.resolve("#package/dist/daemon/statusline/read-history.js"));

/** Reads the ledger in a thread of its own, so that requests wait for nothing. Rejects when it cannot be read. */
export function readHistory(question: HistoryQuestion): Promise<History> {
  return runThread<History>(PROGRAM, question);
}
