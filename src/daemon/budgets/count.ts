import { fileURLToPath } from "node:url";
import type { EncodedBook } from "../../core/budget/book.ts";
import type { BudgetState } from "../../core/budget/state.ts";
import type { Config, PriceSettings } from "../../core/config/config.ts";
import { runThread } from "../run-thread.ts";

/** What of a configuration decides what budgets count, and how. */
export type BudgetConfig = Pick<Config, "tools" | "otherTools" | "groups" | "projects" | "keys" | "budgets"> &
  PriceSettings;

/** What is to be counted. */
export interface CountQuestion {
  /** Of the ledger. */
  directory: string;
  config: BudgetConfig;
  state: BudgetState;
  /** The time by which windows open, in milliseconds since 1970. */
  now: number;
  /** Wall time in milliseconds since 1970. */
  wall: number;
}

/** What was spent before the question. */
export interface Count {
  book: EncodedBook;
  /** Ids of all records in it that may have been written since the question. */
  lastIds: readonly string[];
}

/** As it was built, also where the source runs: tsx does not compile what a worker loads. */
const PROGRAM = fileURLToPath(import.meta.resolve("#package/dist/daemon/budgets/count-ledger.js"));

/** Counts the ledger in a thread of its own, so that requests wait for nothing. Rejects when it cannot be read. */
export function countLedger(question: CountQuestion): Promise<Count> {
  return runThread<Count>(PROGRAM, question);
}
