import type { SummableRecord } from "../../core/ledger/record.ts";
import { describeMiss, habitFor } from "../../core/misses/reasons.ts";
import { formatMoney } from "../../core/price/money.ts";
import type { MissedCost } from "../../core/price/missed.ts";

/** Why a request missed the cache, for programs. Amounts are exact decimal numbers in strings. */
interface MissDocument {
  /** The word of `usage --by miss`. */
  reason: string;
  by: "said" | "inferred" | null;
  /** How many tokens could have been read from the cache; null if the service does not say it. */
  tokens: number | null;
  /** What the reason means, in words. */
  meaning: string;
  /** What the tokens cost more than if they had been read from the cache. */
  costUsd: string;
  /** The same for what a plan paid, at the prices of a key; null if none did. */
  planWorthUsd: string | null;
  /** False where it may have cost more. */
  isExact: boolean;
  /** How to avoid it; null for a word that only the service knows. */
  habit: string | null;
}

/** Returns why a request missed the cache, and what that cost; null for one that did not miss it. */
export function documentMiss(record: SummableRecord, missed: MissedCost | null): MissDocument | null {
  const { miss: reason, miss_by: by, miss_tokens: tokens } = record;
  if (reason === null || missed === null) return null;
  const { amount, worth, isExact } = missed;
  return {
    reason,
    by,
    tokens,
    meaning: describeMiss(reason),
    costUsd: formatMoney(amount),
    planWorthUsd: worth === null ? null : formatMoney(worth),
    isExact,
    habit: habitFor(reason),
  };
}
