import type { SummableRecord } from "../ledger/record.ts";

/** Who spends: what decides which budgets are for a request. */
export type Spender = Pick<SummableRecord, "tool" | "project" | "key">;

/** What is known of a request before it is sent. */
export interface RequestSize {
  upstream: string;
  /** The model that will be asked for; null when it is not known. */
  model: string | null;
  /** Of the body: its length if the client said it, or what has been received. */
  bytes: number;
  /** The most output tokens that the request allows; null when it does not say, or is not read. */
  maxTokens: number | null;
}

/** A request as budgets see it. */
export type BudgetRequest = Spender & RequestSize;
