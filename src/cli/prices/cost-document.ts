import type { Missing } from "../../core/price/charge-cost.ts";
import type { Cost } from "../../core/price/cost.ts";
import { formatDecimal, formatMoney } from "../../core/price/money.ts";

/** What a request cost, for programs. Prices and amounts are exact decimal numbers in strings. */
interface CostDocument {
  /** The sum of what has a price; null if nothing has one, and for a request whose usage is unknown. */
  amountUsd: string | null;
  /** False where the amount is only a part: something has no price, or the usage is not known. */
  isComplete: boolean;
  /** True where it may have cost more: cache writes of unknown lifetime, or usage of a response that was cut off. */
  isLowerBound: boolean;
  /** `billed` by the service, without lines; `free`; null where the amount has several origins or none. */
  from: string | null;
  lines: readonly object[];
  missing: readonly Missing[];
}

/** Returns what a request cost, line by line. */
export function documentCost(cost: Cost): CostDocument {
  const nothing = {
    amountUsd: null,
    isComplete: false,
    isLowerBound: false,
    from: null,
    lines: [],
    missing: [],
  };
  if (cost.kind === "unknown") return nothing;
  const lines = cost.lines.map(({ class: name, model, source, count, rate, per, factors, amount }) => ({
    class: name,
    model,
    source,
    count,
    usd: formatDecimal(rate),
    per,
    factors: factors.map(({ what, value }) => ({ what, value: formatDecimal(value) })),
    amountUsd: formatMoney(amount),
  }));
  if (cost.kind === "unpriced") {
    const amountUsd = cost.atLeast === 0n ? null : formatMoney(cost.atLeast);
    return { ...nothing, amountUsd, lines, missing: cost.missing };
  }
  const { amount, isLowerBound, from } = cost;
  return { amountUsd: formatMoney(amount), isComplete: true, isLowerBound, from, lines, missing: [] };
}
