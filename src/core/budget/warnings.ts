import { decimalOf } from "../price/money.ts";
import { describeBudget, formatAmount, type Budget } from "./budget.ts";
import type { Gauge } from "./gauge.ts";
import type { Warned } from "./state.ts";

/** A share of a budget has been spent. */
export interface BudgetWarning {
  budget: Budget;
  share: number;
  /** In the budget's unit. */
  spent: bigint;
  /** When the window ends, and the same warning may come again; milliseconds since 1970. */
  until: number;
}

/** Says what was spent, for people: `80% of a budget is spent: $16.02 of $20.00 per day for tool codex`. */
export function describeWarning({ budget, share, spent }: BudgetWarning): string {
  const percent = Math.round(share * 10_000) / 100;
  return `${percent}% of a budget is spent: ${formatAmount(budget, spent)} of ${describeBudget(budget)}`;
}

/** Returns the shares that have been spent and were not warned of, with what is to be remembered of that. */
export function findWarnings(
  gauges: readonly Gauge[],
  warned: readonly Warned[],
  now: number,
): { warnings: BudgetWarning[]; warned: readonly Warned[] } {
  const found = gauges.flatMap((gauge) => {
    const { budget, windows } = gauge;
    const spent = gauge.spent(now);
    const shares = budget.warn.filter((share) => isShareSpent(budget.amount, share, spent));
    if (shares.length === 0) return [];
    const { start } = gauge.window(now);
    const until = windows.endOf(now);
    const isKnown = (share: number) =>
      warned.some(
        (one) => one.budget === budget.id && one.share === share && now >= one.from && now < one.until,
      );
    return shares
      .filter((share) => !isKnown(share))
      .map((share) => ({
        warning: { budget, share, spent, until },
        warned: { budget: budget.id, share, from: start, until },
      }));
  });
  return { warnings: found.map(({ warning }) => warning), warned: found.map((one) => one.warned) };
}

/** True when so much was spent, exactly. Nothing is no share, not even of nothing. */
function isShareSpent(amount: bigint, share: number, spent: bigint): boolean {
  const { digits, scale } = decimalOf(share);
  return spent > 0n && spent * 10n ** BigInt(scale) >= amount * digits;
}
