import { element } from "../elements.ts";
import type { Row, Sums } from "../feed-types.ts";
import { formatChange, formatDifference } from "../numbers.ts";
import { sortableTable, type TableColumn } from "../table.ts";
import { costOf, nameIn } from "../usage-sums.ts";

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

/** Shows how much more or less each name cost than in the span before, those that grew most first, and says what that comes from. */
export function besideBeforeTable({
  by,
  rows,
  before,
  total,
  totalBefore,
  title,
}: Comparison): HTMLElement[] {
  const names = [...new Set([...rows, ...before].map((row) => nameIn(row, by)))];
  const find = (all: readonly Row[], name: string) => all.find((row) => nameIn(row, by) === name) ?? null;
  const besides = names.map((name) => ({ name, now: find(rows, name), before: find(before, name) }));
  return [
    element("p", { class: "finding" }, describe(besides, total, totalBefore, title)),
    sortableTable(`Cost by ${by}, beside ${title}`, columnsOf(by), besides, {
      class: "two-lines sums beside",
      sort: "difference",
      total: { name: "total", now: total, before: totalBefore },
    }),
  ];
}

function usd(sums: Sums | null): number {
  return Number(sums?.cost_usd ?? 0);
}

function differenceOf({ now, before }: Beside): number {
  return usd(now) - usd(before);
}

/** False where nothing is known to have cost anything, in either span. */
function isPriced({ now, before }: Beside): boolean {
  return usd(now) !== 0 || usd(before) !== 0;
}

function columnsOf(by: string): TableColumn<Beside>[] {
  return [
    { head: by, value: ({ name }) => name },
    {
      head: "cost",
      value: ({ now }) => usd(now),
      text: ({ now }) => (now === null ? "–" : costOf(now)),
      exact: ({ now }) => now?.cost_usd ?? "",
    },
    {
      head: "before",
      value: ({ before }) => usd(before),
      text: ({ before }) => (before === null ? "–" : costOf(before)),
      exact: ({ before }) => before?.cost_usd ?? "",
    },
    {
      head: "difference",
      value: differenceOf,
      text: (beside) => (isPriced(beside) ? formatDifference(differenceOf(beside)) : ""),
      exact: (beside) => String(differenceOf(beside)),
    },
    {
      head: "change",
      value: ({ now, before }) => usd(now) / (usd(before) || 1),
      text: (beside) => (isPriced(beside) ? formatChange(usd(beside.now), usd(beside.before)) || "new" : ""),
    },
    { head: "requests", value: ({ now }) => now?.requests ?? 0 },
    { head: "requests before", value: ({ before }) => before?.requests ?? 0 },
  ];
}

/** Says the difference in a sentence, and which name is the most of it. */
function describe(besides: readonly Beside[], total: Sums, before: Sums, title: string): string {
  const difference = usd(total) - usd(before);
  const change = formatChange(usd(total), usd(before));
  const direction = difference < 0 ? "less" : "more";
  const amount = formatDifference(Math.abs(difference)).replace("+", "");
  const sentence = `${costOf(total)}, ${amount} ${direction} than ${title}${change === "" ? "" : ` (${change})`}.`;
  const [most] = besides.toSorted((one, other) =>
    difference < 0 ? differenceOf(one) - differenceOf(other) : differenceOf(other) - differenceOf(one),
  );
  if (most === undefined || besides.length < 2 || differenceOf(most) * difference <= 0) return sentence;
  return `${sentence} Most of it is ${most.name}: ${formatDifference(differenceOf(most))}.`;
}
