import { chartOf } from "../chart.ts";
import type { Series, Words } from "../chart/charted.ts";
import type { Row, Sums, UsageReport } from "../feed-types.ts";
import { nameGroup } from "../project-names.ts";
import { isFilter, type Change, type State } from "../state.ts";
import { nameBriefly, nameNow, nameWholly } from "../time-names.ts";
import { describeBeforeByNow, spanBefore, spanOf, timesIn, zoomInto, type Span } from "../times.ts";
import { decimalsOf } from "../numbers.ts";
import { costOf, inputOf, nameIn } from "../usage-sums.ts";
import { addGroups } from "./groups.ts";
import { OTHERS_COLOUR } from "./series-colours.ts";

const OTHERS = "others";
/** Pixels. */
const HEIGHT_OF_TWO = 515;

/** What the chart of a span is made of. */
interface Course {
  span: Span;
  /** The sums of each group in each hour, day or week. */
  rows: readonly Row[];
  /** The sums of each group. */
  groups: readonly Row[];
  /** The same as `rows` of the span before; null to leave it out. */
  before: UsageReport | null;
  /** The names of the groups that the chart tells apart. The rest is one group. */
  order: readonly string[];
  colours: ReadonlyMap<string, number>;
  /** Whether only those groups are shown, beside each other. */
  isSideBySide: boolean;
}

/** Draws the groups over the time of a span, with the sums of the span before. */
export function overTime(course: Course, state: State, change: Change): HTMLElement {
  const { span, order, groups, before, isSideBySide } = course;
  const { by, unit, filter } = state;
  const times = timesIn(span);
  const what = unit === "cost" ? "Cost" : "Tokens";
  const rows = isSideBySide ? course.rows.filter((row) => order.includes(nameIn(row, by))) : course.rows;
  // The legend has the figures of the table, so it has its decimals.
  const decimals = decimalsOf(groups.map((row) => Number(row.cost_usd)));
  return chartOf({
    title: `${what} by ${span.step}`,
    times: times.map((time, at) => ({
      brief: span.isUntilNow && at === times.length - 1 ? nameNow(span.step) : nameBriefly(time, span.step),
      whole: nameWholly(time, span.step),
    })),
    series: seriesOf({ ...course, rows }, times, state).map((series) => ({
      ...series,
      name: nameGroup(by, series.name),
      word: wordFor(groupOf(series.name, groups, { order, by }), unit, decimals),
    })),
    isSideBySide,
    // As high as the table beside it.
    ...(isSideBySide && matchMedia("(width >= 76rem)").matches && { height: HEIGHT_OF_TWO }),
    sumWords: wordsAt(rows, times, span, unit),
    unit,
    isUnfinished: span.isUntilNow,
    onName: (shown) => {
      const name = order.find((one) => nameGroup(by, one) === shown);
      if (name === undefined || !isFilter(by) || name.startsWith("(no ")) return;
      change({ filter: { ...filter, [by]: name } });
    },
    ...(before !== null &&
      before.rows.length > 0 && { before: sumsBefore(before, span, times.length, unit) }),
    ...(times.length > 1 && {
      onSelect: (first, last) => change(zoomInto(span, times[first] ?? "", times[last] ?? "")),
    }),
  });
}

/** The sums of the span before, at the places of this one's hours, days or weeks. */
function sumsBefore({ rows, total }: UsageReport, span: Span, length: number, unit: State["unit"]) {
  const times = timesIn({ ...spanOf(spanBefore(span)), step: span.step }).slice(0, length);
  const sums = addGroups(rows, span.step);
  const values = Array.from({ length }, (_, at) => {
    const time = times[at];
    if (time === undefined) return null;
    const row = sums.find((one) => nameIn(one, span.step) === time);
    return row === undefined ? 0 : valueOf(row, unit);
  });
  const words = wordsAt(rows, times, span, unit);
  return { name: describeBeforeByNow(span), values, word: wordFor(total, unit), words };
}

/** What stands for the sums of rows at each time. */
function wordsAt(rows: readonly Row[], times: readonly string[], { step }: Span, unit: State["unit"]): Words {
  const sums = new Map(addGroups(rows, step).map((row) => [nameIn(row, step), row]));
  return times.map((time) => wordFor(sums.get(time), unit));
}

/** Dollars or tokens of sums. */
export function valueOf(sums: Sums, unit: State["unit"]): number {
  return unit === "cost" ? Number(sums.cost_usd) : inputOf(sums) + sums.output;
}

/** What sums come to where their chart cannot say it: they are no figure, at least one, or have the decimals of others. */
function wordFor(sums: Sums | undefined, unit: State["unit"], decimals?: number): string | undefined {
  if (sums === undefined || unit === "tokens") return undefined;
  const isSaid = decimals === undefined && sums.cost_is_exact && Number(sums.cost_usd) > 0;
  return isSaid ? undefined : costOf(sums, decimals);
}

/** The sums of what a series of the chart has: a group, or all that are not told apart. */
function groupOf(
  name: string,
  groups: readonly Row[],
  { order, by }: { order: readonly string[]; by: string },
): Row | undefined {
  if (order.includes(name)) return groups.find((row) => nameIn(row, by) === name);
  const others = groups.filter((row) => !order.includes(nameIn(row, by)));
  return addGroups(
    others.map((row) => ({ ...row, [by]: OTHERS })),
    by,
  )[0];
}

function seriesOf(
  { rows, order, colours, span }: Pick<Course, "rows" | "order" | "colours" | "span">,
  times: readonly string[],
  { by, unit }: State,
): Series[] {
  const isOther = (row: Row) => !order.includes(nameIn(row, by));
  const names = rows.some(isOther) ? [...order, OTHERS] : order;
  return names.map((name) => {
    const own = rows.filter((row) => (order.includes(name) ? nameIn(row, by) === name : isOther(row)));
    const sums = new Map(addGroups(own, span.step).map((row) => [nameIn(row, span.step), row]));
    return {
      name,
      colour: colours.get(name) ?? OTHERS_COLOUR,
      values: times.map((time) => {
        const row = sums.get(time);
        return row === undefined ? 0 : valueOf(row, unit);
      }),
      words: times.map((time) => wordFor(sums.get(time), unit)),
    };
  });
}
