import { chartOf, type Series } from "./chart.ts";
import { choice, copyable, element, replaceContents } from "./elements.ts";
import type { Row, Status, Sums, UsageReport } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { firstDayOf, forecastOf } from "./overview/forecast.ts";
import { costBefore, glance } from "./overview/glance.ts";
import { formatCount } from "./numbers.ts";
import { filterControls, periodControls } from "./period.ts";
import { GROUPINGS, isFilter, questionOf, type Change, type State } from "./state.ts";
import { coloursOf, OTHERS_COLOUR } from "./overview/series-colours.ts";
import { outOfLine } from "./overview/out-of-line.ts";
import { standing } from "./overview/standing.ts";
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
import { inputOf, nameIn } from "./usage-sums.ts";

/** What the chart tells apart; the rest is one group. */
const MOST_SERIES = 7;
const OTHERS = "others";

const SANDBOX =
  "These requests went to the built-in sandbox: responses and tokens are made up, and nothing was spent, so the chart shows tokens.";

/** Shows what was used and what it cost. */
export async function renderOverview(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const span = spanOf(state);
  const read = (question: Record<string, string>) =>
    readFeed<UsageReport>("usage", { timezone: TIME_ZONE, ...question }, signal);
  const question = questionOf(state);
  const now = new Date();
  const [grouped, timed, before, days, status] = await Promise.all([
    read({ ...question, by: state.by }),
    read({ ...question, by: `${span.step},${state.by}` }),
    read({ ...question, by: span.step, ...spanBefore(span) }),
    read({ ...state.filter, by: "day", since: dayOf(firstDayOf(now)) }),
    // Budgets and limits are for all requests, so there is none to show beside a filter.
    Object.keys(state.filter).length > 0 ? null : readFeed<Status>("status", {}, signal),
  ]);
  if (signal.aborted) return;
  const isSandbox = grouped.rows.length === 0 && grouped.sandbox.rows.length > 0;
  const { rows, total } = isSandbox ? grouped.sandbox : grouped;
  // If nothing has a cost, the chart shows tokens.
  const shown = isSandbox ? ({ ...state, unit: "tokens" } as const) : state;
  const order = groupsOf(rows, shown);
  const past = isSandbox ? before.sandbox.total : before.total;
  // Then the cost of the period stands at the top.
  const isToday = state.since === "today" && days.rows.length > 0;
  const isEmpty = rows.length === 0 && past.requests + past.failed === 0;
  replaceContents(
    parent,
    ...(isSandbox ? [element("p", { class: "sandbox" }, SANDBOX)] : []),
    ...(days.rows.length === 0
      ? []
      : [
          standing(
            forecastOf(days.rows, now),
            status,
            now,
            isToday ? costBefore(total, past, describeBefore(span)) : null,
          ),
        ]),
    // It is about all requests, as budgets are.
    ...(status === null || isSandbox ? [] : [outOfLine(signal)]),
    ...(rows.length === 0
      ? []
      : [
          overTime(
            isSandbox ? timed.sandbox.rows : timed.rows,
            isSandbox ? [] : before.rows,
            span,
            order,
            shown,
            change,
          ),
        ]),
    ...(isEmpty ? [] : [glance(total, past, describeBefore(span), { hasCost: !isToday, state })]),
    rows.length === 0 ? emptyState(state, change) : table(rows, total, order, shown, change),
    ...remarks(grouped),
  );
}

/** Draws the groups over the time of a span, with the sums of the span before. */
function overTime(
  rows: readonly Row[],
  rowsBefore: readonly Row[],
  span: Span,
  order: readonly string[],
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
    series: seriesOf(rows, times, order, span.step, state),
    unit: state.unit,
    onName: (name) => {
      const { by } = state;
      if (!order.includes(name) || !isFilter(by) || name.startsWith("(no ")) return;
      change({ filter: { ...state.filter, [by]: name } });
    },
    ...(rowsBefore.length > 0 && {
      before: {
        name: describeBefore(span),
        values: valuesBefore(rowsBefore, span, times.length, state.unit),
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
  const sums = new Map(rows.map((row) => [nameIn(row, span.step), valueOf(row, unit)]));
  const times = timesIn({ ...spanOf(spanBefore(span)), step: span.step });
  return Array.from({ length }, (_, at) => {
    const time = times[at];
    return time === undefined ? null : (sums.get(time) ?? 0);
  });
}

/** Controls for the period, the grouping, what the chart shows, and the filters. */
export function overviewControls(state: State, change: Change): HTMLElement[] {
  const groupings = GROUPINGS.map((by) => [by, by] as const);
  const units = (["cost", "tokens"] as const).map((unit) => [unit, unit] as const);
  return [
    ...periodControls(state, change),
    choice("By", groupings, state.by, (by) => change({ by })),
    choice("Chart", units, state.unit, (unit) => change({ unit })),
    ...filterControls(state, change),
  ];
}

function valueOf(row: Sums, unit: State["unit"]): number {
  return unit === "cost" ? Number(row.cost_usd) : inputOf(row) + row.output;
}

/** The names of the largest groups, the largest first. */
function groupsOf(rows: readonly Row[], { by, unit }: State): string[] {
  return rows
    .toSorted((one, other) => valueOf(other, unit) - valueOf(one, unit))
    .slice(0, MOST_SERIES)
    .map((row) => nameIn(row, by));
}

function seriesOf(
  rows: readonly Row[],
  times: readonly string[],
  order: readonly string[],
  time: string,
  { by, unit }: State,
): Series[] {
  const places = new Map(times.map((name, at) => [name, at]));
  const hasOthers = rows.some((row) => !order.includes(nameIn(row, by)));
  const names = hasOthers ? [...order, OTHERS] : order;
  const colours = coloursOf(order);
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
  order: readonly string[],
  { by, sort, filter }: State,
  change: Change,
): HTMLElement {
  const colours = coloursOf(order);
  const name = (row: Row) => {
    const text = nameIn(row, by);
    const mark = element("span", { class: `mark mark-${colours.get(text) ?? OTHERS_COLOUR}` });
    if (!isFilter(by) || typeof row[by] !== "string") return [mark, text];
    const narrow = () => change({ filter: { ...filter, [by]: text } });
    return [mark, element("button", { class: "link", title: `only ${text}`, onclick: narrow }, text)];
  };
  const names: TableColumn<Row> = { head: by, value: (row) => nameIn(row, by), contents: name };
  return sortableTable(`Usage by ${by}`, [names, ...sumColumns(rows)], rows, {
    sort,
    onSort: (chosen) => change({ sort: chosen }),
    total: { ...total, [by]: "total" },
  });
}

function emptyState({ since, filter }: State, change: Change): HTMLElement {
  if (Object.keys(filter).length > 0)
    return element("p", { class: "empty" }, "No request in this period matches the filter.");
  const look = () => change({ since: "30d", until: undefined });
  return element(
    "section",
    { class: "empty" },
    element("h2", {}, since === "today" ? "No request today" : "No request in this period"),
    ...(since === "30d" ? [] : [element("button", { onclick: look }, "Show the last 30 days")]),
    element("p", {}, "To point a tool at tollkeeper, type in a terminal, for example:"),
    copyable("tollkeeper connect claude-code"),
    element("p", { class: "remark" }, "Other tools: tollkeeper connect --list"),
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
