import { chartOf } from "./chart.ts";
import type { Series } from "./chart/charted.ts";
import { choice, element, replaceContents } from "./elements.ts";
import type { Row, Status, Sums, UsageReport } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { nothingMatches, nothingYet } from "./frame/empty.ts";
import { formatCount } from "./numbers.ts";
import { besideBeforeTable } from "./overview/compare.ts";
import { firstDayOf, forecastOf } from "./overview/forecast.ts";
import { glance } from "./overview/glance.ts";
import { outOfLine } from "./overview/out-of-line.ts";
import { periodHeading } from "./overview/period-heading.ts";
import { lastingColours, OTHERS_COLOUR } from "./overview/series-colours.ts";
import { standing } from "./overview/standing.ts";
import { addGroups } from "./overview/groups.ts";
import { twoSideBySide } from "./overview/two.ts";
import { filterControls, periodControls } from "./period.ts";
import { COMPARISONS, GROUPINGS, isFilter, questionOf, type Change, type State } from "./state.ts";
import { sumColumns } from "./sum-columns.ts";
import { sortableTable, type TableColumn } from "./table.ts";
import { nameBriefly, nameWholly } from "./time-names.ts";
import {
  dayOf,
  describeBefore,
  spanBefore,
  spanOf,
  timesIn,
  TIME_ZONE,
  zoomInto,
  type Span,
} from "./times.ts";
import { costOf, inputOf, nameIn } from "./usage-sums.ts";

/** What the chart tells apart; the rest is one group. */
const MOST_SERIES = 7;
const OTHERS = "others";

const SANDBOX =
  "These requests went to the built-in sandbox: responses and tokens are made up, and nothing was spent.";

/**
 * Shows what was used and what it cost.
 * @param above - what does not depend on the period goes there, above the controls
 */
export async function renderOverview(
  { above, contents }: { above: HTMLElement; contents: HTMLElement },
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const span = spanOf(state);
  const read = (question: Record<string, string>) =>
    readFeed<UsageReport>("usage", { timezone: TIME_ZONE, ...question }, signal);
  const question = questionOf(state);
  const now = new Date();
  // Which groups are used much whatever the period; there are too many sessions to ask for each day of them.
  const ofDays = state.by === "session" ? "day" : `day,${state.by}`;
  const [grouped, timed, before, days, status] = await Promise.all([
    read({ ...question, by: state.by }),
    read({ ...question, by: `${span.step},${state.by}` }),
    read({ ...question, by: `${span.step},${state.by}`, ...spanBefore(span) }),
    read({ ...state.filter, by: ofDays, since: dayOf(firstDayOf(now)) }),
    // Budgets and limits are for all requests, so there is none to show beside a filter.
    Object.keys(state.filter).length > 0 ? null : readFeed<Status>("status", {}, signal),
  ]);
  if (signal.aborted) return;
  const isSandbox = grouped.rows.length === 0 && grouped.sandbox.rows.length > 0;
  const { rows, total } = isSandbox ? grouped.sandbox : grouped;
  // If nothing has a cost, the chart shows tokens.
  const shown = isSandbox ? ({ ...state, unit: "tokens" } as const) : state;
  if (unitChoice !== null) unitChoice.value = shown.unit;
  const order = groupsOf(rows, shown);
  const lasting = groupsOf(addGroups(days.rows, state.by), shown).slice(0, MOST_SERIES);
  const look = { order, colours: lastingColours(order, state.by === "session" ? [] : lasting) };
  const past = isSandbox ? before.sandbox : before;
  const title = describeBefore(span);
  // Then it stands above every view.
  const isSandboxNow = status?.upstreams.some((upstream) => upstream.is_sandbox) === true;
  const isEmpty = rows.length === 0 && past.total.requests + past.total.failed === 0;
  replaceContents(
    above,
    ...(isSandbox && !isSandboxNow ? [element("p", { class: "sandbox" }, SANDBOX)] : []),
    ...(days.rows.length === 0 ? [] : [standing(forecastOf(days.rows, now), status, now)]),
    // It is about all requests, as budgets are.
    ...(status === null || isSandbox || days.rows.length === 0 ? [] : [outOfLine(signal)]),
  );
  const comparison =
    rows.length === 0
      ? null
      : compared(
          {
            by: state.by,
            rows,
            before: addGroups(past.rows, state.by),
            total,
            totalBefore: past.total,
            title,
          },
          state,
          change,
        );
  const timedRows = isSandbox ? timed.sandbox.rows : timed.rows;
  replaceContents(
    contents,
    ...(isEmpty ? [] : [periodHeading(state, total, past.total, title)]),
    // What the reader has asked for comes first.
    ...(comparison ?? []),
    ...(rows.length === 0
      ? []
      : [overTime({ rows: timedRows, groups: rows }, isSandbox ? null : before, span, look, shown, change)]),
    ...(isEmpty ? [] : [glance(total, past.total, state)]),
    ...(rows.length === 0 ? [emptyState(state, days.rows.length === 0, change)] : []),
    ...(rows.length === 0 || state.compare === "before" ? [] : [table(rows, total, look, shown, change)]),
    ...remarks(grouped),
  );
}

/** The names of the groups that the chart tells apart, and the colour of each. */
interface Look {
  order: readonly string[];
  colours: ReadonlyMap<string, number>;
}

/** What the reader compares; null for nothing. */
function compared(
  comparison: Parameters<typeof besideBeforeTable>[0],
  state: State,
  change: Change,
): HTMLElement[] | null {
  if (state.compare === "before") return besideBeforeTable(comparison);
  const two = state.compare === "two" ? twoSideBySide(comparison.rows, state, change) : null;
  return two === null ? null : [two];
}

/** Draws the groups over the time of a span, with the sums of the span before. */
function overTime(
  { rows, groups }: { rows: readonly Row[]; groups: readonly Row[] },
  before: UsageReport | null,
  span: Span,
  { order, colours }: Look,
  state: State,
  change: Change,
): HTMLElement {
  const times = timesIn(span);
  const what = state.unit === "cost" ? "Cost" : "Tokens";
  return chartOf({
    title: `${what} by ${span.step}`,
    times: times.map((time) => ({
      brief: nameBriefly(time, span.step),
      whole: nameWholly(time, span.step),
    })),
    series: seriesOf(rows, times, { order, colours }, span.step, state).map((series) => ({
      ...series,
      word: wordFor(groupOf(series.name, groups, { order, by: state.by }), state.unit),
    })),
    unit: state.unit,
    isUnfinished: span.isUntilNow,
    onName: (name) => {
      const { by } = state;
      if (!order.includes(name) || !isFilter(by) || name.startsWith("(no ")) return;
      change({ filter: { ...state.filter, [by]: name } });
    },
    ...(before !== null &&
      before.rows.length > 0 && {
        before: {
          name: describeBefore(span),
          values: valuesBefore(before.rows, span, times.length, state.unit),
          word: wordFor(before.total, state.unit),
        },
      }),
    ...(times.length > 1 && {
      onSelect: (first, last) => change(zoomInto(span, times[first] ?? "", times[last] ?? "")),
    }),
  });
}

/** The sums of the span before, at the places of this one's hours, days or weeks. */
function valuesBefore(
  rows: readonly Row[],
  span: Span,
  length: number,
  unit: State["unit"],
): (number | null)[] {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const name = nameIn(row, span.step);
    sums.set(name, (sums.get(name) ?? 0) + valueOf(row, unit));
  }
  const times = timesIn({ ...spanOf(spanBefore(span)), step: span.step });
  return Array.from({ length }, (_, at) => {
    const time = times[at];
    return time === undefined ? null : (sums.get(time) ?? 0);
  });
}

/** Says what the chart shows, also where the reader has not chosen it. */
let unitChoice: HTMLSelectElement | null = null;

/** Such as `two models`. */
function nameComparison(compare: State["compare"], by: State["by"]): string {
  if (compare === "none") return "nothing";
  return compare === "before" ? "the period before" : `two ${by}${by === "branch" ? "es" : "s"}`;
}

/** Controls for the period, the grouping, what the chart shows, what is compared, and the filters. */
export function overviewControls(state: State, change: Change): HTMLElement[] {
  const groupings = GROUPINGS.map((by) => [by, by] as const);
  const units = (["cost", "tokens"] as const).map((unit) => [unit, unit] as const);
  const chart = choice("Chart", units, state.unit, (unit) => change({ unit }));
  unitChoice = chart.querySelector("select");
  const comparisons = COMPARISONS.map((compare) => [compare, nameComparison(compare, state.by)] as const);
  return [
    ...periodControls(state, change),
    choice("By", groupings, state.by, (by) => change({ by, one: "", other: "" })),
    chart,
    choice("Compare", comparisons, state.compare, (compare) => change({ compare })),
    ...filterControls(state, change),
  ];
}

function valueOf(row: Sums, unit: State["unit"]): number {
  return unit === "cost" ? Number(row.cost_usd) : inputOf(row) + row.output;
}

/** What sums come to where their chart cannot say it: they are no figure, or at least one. */
function wordFor(sums: Sums | undefined, unit: State["unit"]): string | undefined {
  const isSaid = sums === undefined || unit === "tokens" || (sums.cost_is_exact && Number(sums.cost_usd) > 0);
  return isSaid ? undefined : costOf(sums);
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

/** The names of the largest groups, the largest first. A single one that is left has its own name, too. */
function groupsOf(rows: readonly Row[], { by, unit }: State): string[] {
  const most = rows.length === MOST_SERIES + 1 ? rows.length : MOST_SERIES;
  return rows
    .toSorted((one, other) => valueOf(other, unit) - valueOf(one, unit))
    .slice(0, most)
    .map((row) => nameIn(row, by));
}

function seriesOf(
  rows: readonly Row[],
  times: readonly string[],
  { order, colours }: Look,
  time: string,
  { by, unit }: State,
): Series[] {
  const places = new Map(times.map((name, at) => [name, at]));
  const hasOthers = rows.some((row) => !order.includes(nameIn(row, by)));
  const names = hasOthers ? [...order, OTHERS] : order;
  const series = names.map((name) => ({
    name,
    colour: colours.get(name) ?? OTHERS_COLOUR,
    values: times.map(() => 0),
  }));
  for (const row of rows) {
    const found = order.indexOf(nameIn(row, by));
    const values = series[found === -1 ? order.length : found]?.values;
    const at = places.get(nameIn(row, time));
    if (values !== undefined && at !== undefined) values[at] = (values[at] ?? 0) + valueOf(row, unit);
  }
  return series;
}

function table(
  rows: readonly Row[],
  total: Sums,
  { colours }: Look,
  { by, sort, filter }: State,
  change: Change,
): HTMLElement {
  const name = (row: Row) => {
    const text = nameIn(row, by);
    const mark = element("span", { class: `mark mark-${colours.get(text) ?? OTHERS_COLOUR}` });
    if (!isFilter(by) || typeof row[by] !== "string") return [mark, text];
    const narrow = () => change({ filter: { ...filter, [by]: text } });
    return [mark, element("button", { class: "link", title: `only ${text}`, onclick: narrow }, text)];
  };
  const names: TableColumn<Row> = { head: by, value: (row) => nameIn(row, by), contents: name };
  return sortableTable(`Usage by ${by}`, [names, ...sumColumns(rows)], rows, {
    class: "two-lines sums",
    sort,
    onSort: (chosen) => change({ sort: chosen }),
    total: { ...total, [by]: "total" },
  });
}

function emptyState({ since, filter }: State, isUnused: boolean, change: Change): HTMLElement {
  if (Object.keys(filter).length > 0) return nothingMatches(() => change({ filter: {} }));
  const look = () => change({ since: "30d", until: undefined });
  const isShort = !isUnused && since !== "30d";
  return nothingYet(
    isUnused ? "Nothing counted yet" : since === "today" ? "No request today" : "No request in this period",
    ...(isShort ? [element("button", { onclick: look }, "Show the last 30 days")] : []),
  );
}

function remarks({ unreadable_lines: unreadable, prices, time_zone: zone }: UsageReport): HTMLElement[] {
  const sentences = [
    unreadable > 0
      ? `${formatCount(unreadable)} lines of the ledger cannot be read; type: tollkeeper ledger verify`
      : "",
    `Prices as of ${prices.as_of}; days in ${zone}.`,
  ];
  return sentences
    .filter((sentence) => sentence !== "")
    .map((sentence) => element("p", { class: "remark" }, sentence));
}
