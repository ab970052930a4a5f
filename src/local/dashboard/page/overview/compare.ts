import type { Row, Sums } from "../feed-types.ts";
import { formatChange } from "../numbers.ts";
import { sortableTable, type TableColumn } from "../table.ts";
import { allOf, costOf, nameIn } from "../usage-sums.ts";
import { describeDifferenceOf, differenceOf } from "./difference.ts";
import type { GroupName } from "./group-name.ts";

/** What a name cost, and in the span before. */
interface Beside {
  name: string;
  now: Sums | null;
  before: Sums | null;
}

interface Comparison {
  by: string;
  rows: readonly Row[];
  before: readonly Row[];
  total: Sums;
  totalBefore: Sums;
  /** Names the span before. */
  title: string;
}

/** Shows how much more or less each name cost than in the span before, those that grew most first. */
export function besideBeforeTable(comparison: Comparison, nameOf: GroupName): HTMLElement {
  const { by, total, totalBefore, title } = comparison;
  return sortableTable(`Cost by ${by}, beside ${title}`, columnsOf(by, nameOf), besidesIn(comparison), {
    class: "two-lines sums beside",
    sort: "difference",
    total: { name: "total", now: total, before: totalBefore },
  });
}

function besidesIn({ by, rows, before }: Comparison): Beside[] {
  const names = [...new Set([...rows, ...before].map((row) => nameIn(row, by)))];
  const find = (all: readonly Row[], name: string) => all.find((row) => nameIn(row, by) === name) ?? null;
  return names.map((name) => ({ name, now: find(rows, name), before: find(before, name) }));
}

function usd(sums: Sums | null): number {
  return Number(sums?.cost_usd ?? 0);
}

function countOf(sums: Sums | null): number {
  return sums === null ? 0 : allOf(sums);
}

/** False where nothing is known to have cost anything, in either span. */
function isPriced({ now, before }: Beside): boolean {
  return usd(now) !== 0 || usd(before) !== 0;
}

function columnsOf(by: string, nameOf: GroupName): TableColumn<Beside>[] {
  return [
    { head: by, value: ({ name }) => name, contents: ({ name }) => nameOf(name) },
    {
      head: "cost",
      money: "other",
      value: ({ now }) => usd(now),
      text: ({ now }, decimals) => (now === null ? "–" : costOf(now, decimals)),
      exact: ({ now }) => now?.cost_usd ?? "",
    },
    {
      head: "before",
      money: "other",
      value: ({ before }) => usd(before),
      text: ({ before }, decimals) => (before === null ? "–" : costOf(before, decimals)),
      exact: ({ before }) => before?.cost_usd ?? "",
    },
    {
      head: "difference",
      money: "other",
      value: (beside) => (isPriced(beside) ? differenceOf(beside.now, beside.before) : NaN),
      text: ({ now, before }, decimals) => describeDifferenceOf(now, before, decimals),
      exact: (beside) => (isPriced(beside) ? String(differenceOf(beside.now, beside.before)) : ""),
    },
    {
      head: "change",
      value: (beside) => (isPriced(beside) ? usd(beside.now) / usd(beside.before) : NaN),
      text: (beside) => (isPriced(beside) ? formatChange(usd(beside.now), usd(beside.before)) || "new" : ""),
    },
    {
      head: "requests",
      value: ({ now }) => countOf(now),
      unit: ({ now }) => (countOf(now) === 1 ? "request" : "requests"),
    },
    { head: "requests before", value: ({ before }) => countOf(before) },
  ];
}

/**
 * Says the difference in a sentence, and the two names that changed most:
 * `$3.43 more than the 7 days before: claude-sonnet-5 +$3.85, gpt-5.5 −$2.45`.
 */
export function describeDifference(comparison: Comparison): string {
  const { total, totalBefore, title } = comparison;
  const difference = differenceOf(total, totalBefore);
  if (difference === 0) return `as much as ${title}`;
  // What is said to be less is the other one's difference.
  const [more, less] = difference > 0 ? [total, totalBefore] : [totalBefore, total];
  const amount = describeDifferenceOf(more, less).replace("+", "");
  const sentence = `${amount} ${difference > 0 ? "more" : "less"} than ${title}`;
  const besides = besidesIn(comparison);
  if (besides.length < 2) return sentence;
  const changes = besides
    .map(({ name, now, before }) => ({
      name,
      text: describeDifferenceOf(now, before),
      by: differenceOf(now, before),
    }))
    .filter(({ by }) => by !== 0)
    .toSorted((one, other) => Math.abs(other.by) - Math.abs(one.by));
  return `${sentence}: ${changes
    .slice(0, 2)
    .map(({ name, text }) => `${name} ${text}`)
    .join(", ")}`;
}
