import { element } from "../elements.ts";
import type { Sums } from "../feed-types.ts";
import { dateFormat, describeChange, formatDay, formatDollars } from "../numbers.ts";
import { PERIODS } from "../state.ts";
import { spanOf, type SpanQuery } from "../times.ts";
import type { Finding } from "./compare.ts";
import { costOf, ownWorthOf, worthOf } from "../usage-sums.ts";

/** The span before a period. */
export interface Before {
  total: Sums;
  /** What it is, in words: `the 30 days before`. */
  title: string;
  /** The day on which recording began within it, so that its sums are not those of a whole one; null if it began earlier. */
  recordedSince: string | null;
}

/**
 * Shows what a period cost, beside the span before.
 * @param isSaid - what a card above says already
 * @param finding - how the two spans differ, where the reader asked for that; "" to say nothing of the span before
 * @param cost - what the period cost, in words
 */
export function periodHeading(
  period: SpanQuery,
  total: Sums,
  before: Before,
  isSaid: { cost: boolean; before: boolean },
  finding?: Finding | "",
  cost = costOf(total),
): HTMLElement[] {
  const sentences = [
    paidByPlan(total, before.total),
    ofExtraUse(total),
    paidByOwnKeys(total, before.total),
  ].filter((sentence) => sentence !== "");
  const name = element("h2", {}, nameOfPeriod(period));
  const parts =
    typeof finding === "object"
      ? [
          name,
          element("strong", {}, finding.figure),
          element("span", { class: "finding" }, finding.words),
          element("small", {}, ...finding.details),
        ]
      : [
          ...(isSaid.cost && (isSaid.before || finding === "") ? [] : [name]),
          ...(isSaid.cost ? [] : [element("strong", {}, cost)]),
          ...(isSaid.before || finding === "" ? [] : [element("span", {}, besideBefore(total, before))]),
        ];
  const all = [...parts, ...sentences.map((sentence) => element("small", {}, sentence))];
  if (all.length === 0) return [];
  return [element("section", { class: "period", ariaLabel: "the period" }, ...all)];
}

/** Such as `Last 7 days`, `This month`, or the first and the last day. */
function nameOfPeriod(period: SpanQuery): string {
  const { since } = period;
  const days = /^(\d+)d$/.exec(since)?.[1];
  if (days !== undefined) return `Last ${days} days`;
  const known = PERIODS.find(([name]) => name === since)?.[1];
  if (known !== undefined) return `${known[0]?.toUpperCase() ?? ""}${known.slice(1)}`;
  const { from, to } = spanOf(period);
  const isOfHours = since.includes("T");
  const format = dateFormat({
    dateStyle: "medium",
    ...(isOfHours && { timeStyle: "short" }),
  });
  return format.formatRange(from, isOfHours ? to : new Date(to.getTime() - 1));
}

/** Says how much more or less than before a cost is: `+42% on the 30 days before ($225.01)`. Beside a part of a span, a share would say nothing. */
function besideBefore(total: Sums, { total: before, title, recordedSince }: Before): string {
  if (recordedSince !== null)
    return `${title}: ${costOf(before)}, recorded since ${formatDay(recordedSince)}`;
  const change = describeChange(Number(total.cost_usd), Number(before.cost_usd), title);
  return change === "" ? `${title}: ${costOf(before)}` : `${change} (${costOf(before)})`;
}

function paidByPlan(total: Sums, before: Sums): string {
  if (total.plan_worth_usd === null) return "";
  return `A plan paid requests worth ${worthOf(total)} at the prices of a key; before: ${worthOf(before) || "nothing"}. They are in no cost.`;
}

function ofExtraUse({ extra_requests: extra, extra_cost_usd: cost }: Sums): string {
  return extra > 0 ? `${formatDollars(Number(cost))} of the cost is extra use of plans.` : "";
}

function paidByOwnKeys(total: Sums, before: Sums): string {
  if (total.own_worth_usd === null) return "";
  return `Tools paid ${ownWorthOf(total)} with keys of their own, at list prices; before: ${ownWorthOf(before) || "nothing"}. That is in no cost.`;
}
