import type { SpendingCost } from "../../core/price/spending.ts";

/**
 * Returns e.g. `$1.20`, `≥$1.20` where it is more or may be, `unpriced` where nothing has a price, and `unknown`.
 * @param dollars the amount, as it is to be written
 */
export function formatCost({ amount, isExact, unpriced }: SpendingCost, dollars: string): string {
  if (isExact) return dollars;
  if (amount > 0n) return dollars.startsWith("<") ? ">$0" : `≥${dollars}`;
  return unpriced.length > 0 ? "unpriced" : "unknown";
}

/** Returns a whole number of percent; nothing of nothing is empty. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "" : `${Math.round((100 * part) / whole)}%`;
}
