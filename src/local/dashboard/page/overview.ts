import { chartOf, COLOURS, type Series } from "./chart.ts";
import { choice, element, replaceContents } from "./elements.ts";
import type { Row, Sums, UsageReport } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { glance } from "./glance.ts";
import { formatCount } from "./numbers.ts";
import { periodControls } from "./period.ts";
import { GROUPINGS, isFilter, questionOf, type Change, type State } from "./state.ts";
import { sortableTable, type TableColumn } from "./table.ts";
import { describeBefore, spanBefore, spanOf, timesIn, TIME_ZONE, zoomInto } from "./times.ts";
import { inputOf, nameIn, SUM_COLUMNS } from "./usage-sums.ts";

/** What the chart tells apart; the rest is one group. */
const MOST_SERIES = 7;
const OTHERS = "others";

const SANDBOX =
  "These are requests to the built-in sandbox: its responses and tokens are made up, and nothing was spent.";

/** Shows what was used and what it cost. */
export async function renderOverview(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const span = spanOf(state);
  const time = span.isByHour ? "hour" : "day";
  const read = (question: Record<string, string>) =>
    readFeed<UsageReport>("usage", { timezone: TIME_ZONE, ...question }, signal);
  const question = questionOf(state);
  const [grouped, timed, before] = await Promise.all([
    read({ ...question, by: state.by }),
    read({ ...question, by: `${time},${state.by}` }),
    read({ ...question, by: "tool", ...spanBefore(span) }),
  ]);
  if (signal.aborted) return;
  const isSandbox = grouped.rows.length === 0 && grouped.sandbox.rows.length > 0;
  const { rows, total } = isSandbox ? grouped.sandbox : grouped;
  const order = groupsOf(rows, state);
  const times = timesIn(span);
  const timedRows = isSandbox ? timed.sandbox.rows : timed.rows;
  const zoom = (first: string, last: string) => change(zoomInto(first, last));
  const chart = chartOf({
    times,
    series: seriesOf(timedRows, times, order, time, state),
    unit: state.unit,
    ...(times.length > 1 && { onSelect: zoom }),
  });
  replaceContents(
    parent,
    ...(isSandbox ? [element("p", { class: "sandbox" }, SANDBOX)] : []),
    glance(total, isSandbox ? before.sandbox.total : before.total, describeBefore(span)),
    ...(rows.length === 0 ? [emptyState(state)] : [chart, table(rows, total, order, state, change)]),
    ...remarks(grouped),
  );
}

/** Controls for the period, the grouping, what the chart shows, and the filters. */
export function overviewControls(state: State, change: Change): HTMLElement[] {
  const filters = Object.entries(state.filter).map(([name, value]) => {
    const { [name]: _, ...rest } = state.filter;
    return element(
      "button",
      { class: "filter", title: "remove this filter", onclick: () => change({ filter: rest }) },
      `${name}: ${value} ✕`,
    );
  });
  const groupings = GROUPINGS.map((by) => [by, by] as const);
  const units = (["cost", "tokens"] as const).map((unit) => [unit, unit] as const);
  return [
    ...periodControls(state, change),
    choice("By", groupings, state.by, (by) => change({ by })),
    choice("Chart", units, state.unit, (unit) => change({ unit })),
    ...filters,
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
  const series = [...order, OTHERS].map((name) => ({ name, values: times.map(() => 0) }));
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
  const name = (row: Row) => {
    const text = nameIn(row, by);
    const at = order.indexOf(text);
    const mark = element("span", { class: `mark mark-${at === -1 ? COLOURS.length - 1 : at}` });
    if (!isFilter(by) || typeof row[by] !== "string") return [mark, text];
    const narrow = () => change({ filter: { ...filter, [by]: text } });
    return [mark, element("button", { class: "link", title: `only ${text}`, onclick: narrow }, text)];
  };
  const names: TableColumn<Row> = { head: by, value: (row) => nameIn(row, by), contents: name };
  return sortableTable(`Usage by ${by}`, [names, ...SUM_COLUMNS], rows, {
    sort,
    onSort: (chosen) => change({ sort: chosen }),
    total: { ...total, [by]: "total" },
  });
}

function emptyState({ filter }: State): HTMLElement {
  if (Object.keys(filter).length > 0)
    return element("p", {}, "No request in this period matches the filter.");
  return element(
    "section",
    { class: "empty" },
    element("p", {}, "No request is recorded for this period."),
    element("p", {}, "To point a tool at tollkeeper, type in a terminal:"),
    element("pre", {}, "tollkeeper connect claude-code"),
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
