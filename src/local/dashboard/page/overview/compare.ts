import { element } from "../elements.ts";
import type { Row, Sums } from "../feed-types.ts";
import { formatChange, formatDay } from "../numbers.ts";
import { nameGroup } from "../project-names.ts";
import { sortableTable, type TableColumn } from "../table.ts";
import { allOf, costOf, nameIn } from "../usage-sums.ts";
import { describeDifferenceOf, differenceOf } from "./difference.ts";
import type { GroupName } from "./group-name.ts";
import { approximately, howMuch } from "./how-much.ts";

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
  /** The day on which recording began within that; null if it began earlier. */
  recordedSince: string | null;
}

/** Shows how much more or less each name cost than in the span before, those that changed most first. */
export function besideBeforeTable(comparison: Comparison, nameOf: GroupName): HTMLElement {
  const { by, total, totalBefore, title } = comparison;
  const besides = besidesIn(comparison);
  const columns = columnsOf(besides, comparison, nameOf);
  return sortableTable(`Cost by ${by}, beside ${title}`, columns, besides, {
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

function columnsOf(
  besides: readonly Beside[],
  comparison: Comparison,
  nameOf: GroupName,
): TableColumn<Beside>[] {
  const { by, recordedSince } = comparison;
  const most = Math.max(...besides.map(({ now, before }) => Math.abs(differenceOf(now, before))));
  const changeOf = ({ now, before }: Beside) => formatChange(usd(now), usd(before)) || "new";
  return [
    { head: by, value: ({ name }) => name, contents: ({ name }) => nameOf(name) },
    {
      head: "difference",
      money: "other",
      // What changed most is first, whether it grew or shrank.
      value: (beside) => (isPriced(beside) ? Math.abs(differenceOf(beside.now, beside.before)) : NaN),
      text: ({ now, before }, decimals) => describeDifferenceOf(now, before, decimals),
      contents: (beside, text) =>
        isPriced(beside) ? [swing(differenceOf(beside.now, beside.before), most, text)] : [text],
      exact: (beside) => (isPriced(beside) ? String(differenceOf(beside.now, beside.before)) : ""),
    },
    {
      head: "change",
      value: (beside) => (isPriced(beside) ? usd(beside.now) / usd(beside.before) : NaN),
      // Beside a part of a span, a share would say nothing.
      text: (beside) => (isPriced(beside) && recordedSince === null ? changeOf(beside) : ""),
    },
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
    { head: "requests", value: ({ now }) => countOf(now) },
    { head: "requests before", value: ({ before }) => countOf(before) },
  ];
}

/** A figure with a bar from a middle line: to the right for more, to the left for less. */
function swing(difference: number, most: number, text: string): HTMLElement {
  const bar = element("span", { class: difference < 0 ? "less" : "more-spent" });
  bar.style.width = `${most > 0 ? (50 * Math.abs(difference)) / most : 0}%`;
  return element("span", { class: "swing" }, element("span", { class: "middle" }, bar), text);
}

/** What the heading of a comparison says. */
export interface Finding {
  /** The difference of the sums. */
  figure: string;
  /** How much that is: `27% more than the 7 days before`. */
  words: string;
  /** Both sums, and the two names that changed most. */
  details: readonly (Node | string)[];
}

/** Returns the difference of two spans as a figure and in words, with both sums, and the two names that changed most. */
export function findingOf(comparison: Comparison): Finding {
  const { total, totalBefore } = comparison;
  return {
    figure: describeDifferenceOf(total, totalBefore) || costOf(total),
    words: besideInWords(comparison),
    details: [`${costOf(total)}, before ${costOf(totalBefore)}`, ...moversIn(comparison)],
  };
}

function besideInWords({ total, totalBefore, title, recordedSince }: Comparison): string {
  if (recordedSince !== null) return `beside ${title}, recorded since ${formatDay(recordedSince)}`;
  const found = howMuch(usd(total), usd(totalBefore));
  if (found === null) return `beside ${title}`;
  const isExact = total.cost_is_exact && totalBefore.cost_is_exact;
  const { text, than } = isExact ? found : approximately(found);
  return `${text} ${than} ${title}`;
}

/** A figure stays in its line: it could be broken between its sign and its dollars. */
function moversIn(comparison: Comparison): (Node | string)[] {
  const besides = besidesIn(comparison);
  if (besides.length < 2) return [];
  const movers = besides
    .map(({ name, now, before }) => ({
      name,
      text: describeDifferenceOf(now, before),
      size: Math.abs(differenceOf(now, before)),
    }))
    .filter(({ size }) => size > 0)
    .toSorted((one, other) => other.size - one.size)
    .slice(0, 2);
  return movers.flatMap(({ name, text }, at) => [
    `${at === 0 ? ". Changed most: " : ", "}${nameGroup(comparison.by, name)} `,
    element("span", { class: "figure" }, text),
  ]);
}
