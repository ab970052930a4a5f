import type { CostLine } from "../../core/price/charge-cost.ts";
import type { Cost } from "../../core/price/cost.ts";
import { formatDecimal, formatDollars, formatMoney } from "../../core/price/money.ts";
import { formatNumber } from "../terminal/format.ts";

/** Of what a request cost, line by line. */
export const COST_COLUMNS = [
  "",
  { head: "count", align: "right" },
  { head: "USD", align: "right" },
  "for",
  "times",
  { head: "amount", align: "right" },
] as const;

/** A cost of which at least a part is known. */
type KnownCost = Exclude<Cost, { kind: "unknown" }>;

function lineRow({ class: name, count, rate, per, factors, amount }: CostLine): string[] {
  return [
    name,
    formatNumber(count),
    formatDecimal(rate),
    formatNumber(per),
    factors.map(({ what, value }) => `${formatDecimal(value)} (${what})`).join(", "),
    formatMoney(amount),
  ];
}

/** Rows of {@link COST_COLUMNS}: the lines and their sum. */
export function costRows(cost: KnownCost): string[][] {
  return [...cost.lines.map(lineRow), totalRow(cost)];
}

function totalRow(cost: KnownCost): string[] {
  if (cost.kind === "priced")
    return [
      cost.isLowerBound ? "at least" : "total",
      "",
      "",
      "",
      formatDollars(cost.amount),
      formatMoney(cost.amount),
    ];
  const missing = cost.missing.map(({ what }) => what).join(", ");
  const known = cost.atLeast === 0n ? "" : formatMoney(cost.atLeast);
  return ["at least", "", "", "", `unpriced: ${missing}`, known];
}
