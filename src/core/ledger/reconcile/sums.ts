import type { Money } from "../../price/money.ts";
import type { ServiceRow } from "./service-row.ts";

/** The sums that a service and the ledger are compared by. */
export const TOKEN_SUMS = ["input", "cache_read", "cache_write", "output"] as const;
export type TokenSum = (typeof TOKEN_SUMS)[number];

/** What was used of a model in some time. null: not known, and not compared. */
export interface Sums {
  tokens: Record<TokenSum, number | null> | null;
  cost: Money | null;
}

/** Sums of the ledger, and what of the usage is not in them. */
export interface LedgerSums {
  tokens: Record<TokenSum, number>;
  cost: Money;
  requests: number;
  /** Requests whose tokens in the sums are a lower bound. */
  partial: number;
  /** Requests whose tokens are unknown. */
  absent: number;
  /** Requests of which something has no known price. */
  unpriced: number;
}

/** Returns sums of nothing. */
export function noUsage(): LedgerSums {
  const tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0 };
  return { tokens, cost: 0n, requests: 0, partial: 0, absent: 0, unpriced: 0 };
}

/** Adds the second sums to the first. */
export function addUsage(to: LedgerSums, more: LedgerSums): void {
  for (const name of TOKEN_SUMS) to.tokens[name] += more.tokens[name];
  to.cost += more.cost;
  to.requests += more.requests;
  to.partial += more.partial;
  to.absent += more.absent;
  to.unpriced += more.unpriced;
}

/** Returns the sums of rows of a service. A sum that one of the rows does not say is not known. */
export function sumRows(rows: readonly ServiceRow[]): Sums {
  const tokens = { input: 0, cache_read: 0, cache_write: 0, output: 0 } as Record<TokenSum, number | null>;
  let [hasTokens, hasCost] = [false, false];
  let cost = 0n;
  for (const row of rows) {
    hasTokens ||= row.tokens !== null;
    hasCost ||= row.cost !== null;
    cost += row.cost ?? 0n;
    for (const name of TOKEN_SUMS) {
      const [sum, more] = [tokens[name], row.tokens?.[name] ?? null];
      tokens[name] = sum === null || more === null ? null : sum + more;
    }
  }
  return { tokens: hasTokens ? tokens : null, cost: hasCost ? cost : null };
}
