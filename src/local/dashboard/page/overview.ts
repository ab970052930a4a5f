import { COLOURS, drawChart, type Series } from "./chart.ts";
import { choice, element } from "./elements.ts";
import type { Row, Sums, UsageReport } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { formatCount, formatDollars, formatShare } from "./numbers.ts";
import { GROUPINGS, isFilter, PERIODS, type State } from "./state.ts";
import { dayBefore, fillTimes } from "./times.ts";
import { sortableTable, type TableColumn } from "./table.ts";

/** What the chart tells apart; the rest is one group. */
const MOST_SERIES = 7;
const OTHERS = "others";

/** Shows what was used and what it cost. */
export async function renderOverview(
  parent: HTMLElement,
  state: State,
  change: (changes: Partial<State>) => void,
  signal: AbortSignal,
): Promise<void> {
  const { since, by, filter } = state;
  const time = since === "today" ? "hour" : "day";
  const [grouped, timed, before] = await Promise.all([
    readFeed<UsageReport>("usage", { by, since, ...filter }, signal),
    readFeed<UsageReport>("usage", { by: `${time},${by}`, since, ...filter }, signal),
    readFeed<UsageReport>("usage", { by: "tool", ...spanBefore(since), ...filter }, signal),
  ]);
  if (signal.aborted) return;
  const shown = grouped.rows.length > 0 || grouped.sandbox.rows.length === 0 ? grouped : grouped.sandbox;
  const isSandbox = shown !== grouped;
  const order = groupsOf(shown.rows, state);
  const chart = element("div", { class: "chart", attributes: { "aria-hidden": "true" } });
  parent.replaceChildren(
    controls(state, change),
    ...(isSandbox ? [element("p", { class: "sandbox" }, SANDBOX)] : []),
    glance(shown.total, before.total, since),
    chart,
    ...(shown.rows.length === 0
      ? [emptyState(filter)]
      : [table(shown.rows, shown.total, order, state, change)]),
    ...remarks(grouped),
  );
  const rows = isSandbox ? timed.sandbox.rows : timed.rows;
  const times = fillTimes(
    since,
    rows.map((row) => nameIn(row, time)),
  );
  drawChart(chart, times, seriesOf(rows, times, order, time, state), state.unit);
}

const SANDBOX =
  "These are requests to the built-in sandbox: its responses and tokens are made up, and nothing was spent.";

function controls(state: State, change: (changes: Partial<State>) => void): HTMLElement {
  const filters = Object.entries(state.filter).map(([name, value]) => {
    const { [name]: _, ...rest } = state.filter as Record<string, string>;
    return element(
      "button",
      { class: "filter", title: "remove this filter", onclick: () => change({ filter: rest }) },
      `${name}: ${value} ✕`,
    );
  });
  return element(
    "div",
    { class: "controls" },
    choice("Period", PERIODS, state.since, (since) => change({ since })),
    choice(
      "By",
      GROUPINGS.map((by) => [by, by]),
      state.by,
      (by) => change({ by: by as State["by"] }),
    ),
    choice(
      "Chart",
      [
        ["cost", "cost"],
        ["tokens", "tokens"],
      ],
      state.unit,
      (unit) => change({ unit: unit as State["unit"] }),
    ),
    ...filters,
  );
}

/** The period of the same length before. */
function spanBefore(since: string): { since: string; until: string } {
  if (since === "today") return { since: dayBefore(1), until: dayBefore(1) };
  const days = Number(since.replace("d", ""));
  return { since: dayBefore(2 * days - 1), until: dayBefore(days) };
}

function glance(total: Sums, before: Sums, since: string): HTMLElement {
  const input = inputOf(total);
  const span = since === "today" ? "yesterday" : "the period before";
  return element(
    "section",
    { class: "glance", attributes: { "aria-label": "at a glance" } },
    card("Cost", costOf(total), `${span}: ${costOf(before)}`),
    card("Requests", formatCount(total.requests), `${span}: ${formatCount(before.requests)}`),
    card("Tokens in", formatCount(input), `${span}: ${formatCount(inputOf(before))}`),
    card("Tokens out", formatCount(total.output), `${span}: ${formatCount(before.output)}`),
    card(
      "From cache",
      formatShare(total.cache_read, input) || "–",
      `saved ${formatDollars(Number(total.cache_saved_usd))}`,
    ),
    card("Failed", formatCount(total.failed), `${formatCount(total.cut)} cut short`),
    card("Certainty", certaintyOf(total), coverageOf(total)),
  );
}

function inputOf({ input_uncached: uncached, cache_read: read, cache_write: write }: Sums): number {
  return uncached + read + write;
}

function card(title: string, value: string, detail: string): HTMLElement {
  return element(
    "div",
    { class: "card" },
    element("h2", {}, title),
    element("strong", {}, value),
    element("small", {}, detail),
  );
}

/** `≥` where a part of it is not known. */
function costOf({ cost_usd: cost, cost_is_exact: isExact }: Sums): string {
  return `${isExact ? "" : "≥"}${formatDollars(Number(cost))}`;
}

function certaintyOf({ cost_is_exact: isExact }: Sums): string {
  return isExact ? "exact" : "lower bound";
}

function coverageOf({ requests, partial, absent, unpriced }: Sums): string {
  const parts = [
    partial > 0 ? `${formatCount(partial)} partly counted` : "",
    absent > 0 ? `${formatCount(absent)} without usage` : "",
    unpriced.length > 0 ? `${formatCount(unpriced.length)} without a price` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? `all ${formatCount(requests)} requests are counted` : parts.join(", ");
}

function nameIn(row: Row, grouping: string): string {
  const name = row[grouping];
  return typeof name === "string" ? name : `(no ${grouping})`;
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
  { by, filter }: State,
  change: (changes: Partial<State>) => void,
): HTMLElement {
  const name = (row: Row) => {
    const text = nameIn(row, by);
    const at = order.indexOf(text);
    const mark = element("span", { class: `mark mark-${at === -1 ? COLOURS.length - 1 : at}` });
    if (!isFilter(by) || typeof row[by] !== "string") return [mark, text];
    const narrow = () => change({ filter: { ...filter, [by]: text } });
    return [mark, element("button", { class: "link", title: `only ${text}`, onclick: narrow }, text)];
  };
  const columns: TableColumn<Row>[] = [
    { head: by, value: (row) => nameIn(row, by), contents: name },
    { head: "cost", value: (row) => Number(row.cost_usd), text: costOf, exact: (row) => row.cost_usd },
    { head: "requests", value: ({ requests }) => requests },
    { head: "tokens in", value: inputOf },
    {
      head: "from cache",
      value: (row) => row.cache_read / (inputOf(row) || 1),
      text: (row) => formatShare(row.cache_read, inputOf(row)),
    },
    { head: "tokens out", value: ({ output }) => output },
    { head: "failed", value: ({ failed }) => failed },
  ];
  return sortableTable(`Usage by ${by}`, columns, rows, { ...total, [by]: "total" });
}

function emptyState(filter: State["filter"]): HTMLElement {
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
