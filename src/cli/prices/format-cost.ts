import type { SpendingCost } from "../../core/price/spending.ts";

/**
 * Returns e.g. `$1.20`, `≥$1.20` where it is more or may be, `unpriced` where nothing has a price, and `unknown`.
 * @param dollars the amount, as it is to be written
 */
export function formatCost({ amount, isExact, unpriced }: SpendingCost, dollars: string): string {
  if (isExact) return dollars;
  if (amount > 0n) return `≥${dollars.startsWith("<") ? "$0.00" : dollars}`;
  return unpriced.length > 0 ? "unpriced" : "unknown";
}

/** Returns a whole number of percent. Only nothing is `0%`, and only all is `100%`; a share of nothing is empty. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return "";
  const percent = Math.round((100 * part) / whole);
  if (percent === 0 && part > 0) return "<1%";
  return percent === 100 && part < whole ? ">99%" : `${percent}%`;
}
