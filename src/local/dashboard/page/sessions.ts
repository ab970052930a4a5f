import { drawChart } from "./chart.ts";
import { choice, element } from "./elements.ts";
import type { LiveRequest, Row, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import { formatDollars, formatSeconds, formatShare } from "./numbers.ts";
import { PERIODS, type State } from "./state.ts";
import { sortableTable, type TableColumn } from "./table.ts";

/** As many requests of a session as a chart can tell apart. */
const MOST_REQUESTS = 300;

/** Shows the sessions of a period, or one of them with its requests: how its context grew, and what the cache saved. */
export async function renderSessions(
  parent: HTMLElement,
  state: State,
  change: (changes: Partial<State>) => void,
  signal: AbortSignal,
): Promise<void> {
  const { session } = state.filter;
  const report = await readFeed<UsageReport>(
    "usage",
    { by: "session,tool", since: state.since, ...state.filter },
    signal,
  );
  const records = session === undefined ? [] : await readRecords({ lines: String(MOST_REQUESTS), session });
  if (signal.aborted) return;
  const rows = [...report.rows, ...report.sandbox.rows].filter((row) => typeof row["session"] === "string");
  parent.replaceChildren(
    element(
      "div",
      { class: "controls" },
      choice("Period", PERIODS, state.since, (since) => change({ since })),
      ...back(state, change),
    ),
    ...(rows.length === 0
      ? [element("p", {}, "No tool has named a session in this period.")]
      : [sessionTable(rows, state, change)]),
  );
  if (records.length > 0) showRequests(parent, records as LiveRequest[]);
}

function back({ filter }: State, change: (changes: Partial<State>) => void): HTMLElement[] {
  if (filter.session === undefined) return [];
  const { session: _, ...rest } = filter;
  return [element("button", { onclick: () => change({ filter: rest }) }, "All sessions")];
}

function sessionTable(
  rows: readonly Row[],
  { filter }: State,
  change: (changes: Partial<State>) => void,
): HTMLElement {
  const columns: TableColumn<Row>[] = [
    {
      head: "session",
      value: (row) => row["session"] as string,
      contents: (row) => {
        const session = row["session"] as string;
        return [
          element(
            "button",
            { class: "link", onclick: () => change({ filter: { ...filter, session } }) },
            session,
          ),
        ];
      },
    },
    {
      head: "cost",
      value: (row) => Number(row.cost_usd),
      text: (row) => `${row.cost_is_exact ? "" : "≥"}${formatDollars(Number(row.cost_usd))}`,
      exact: (row) => row.cost_usd,
    },
    { head: "tool", value: (row) => row["tool"] as string },
    { head: "requests", value: ({ requests }) => requests },
    { head: "tokens in", value: inputOf },
    {
      head: "from cache",
      value: (row) => row.cache_read / (inputOf(row) || 1),
      text: (row) => formatShare(row.cache_read, inputOf(row)),
    },
    { head: "tokens out", value: ({ output }) => output },
  ];
  return sortableTable("Sessions", columns, rows, null);
}

function inputOf({ input_uncached: uncached, cache_read: read, cache_write: write }: Row): number {
  return uncached + read + write;
}

function showRequests(parent: HTMLElement, records: readonly LiveRequest[]): void {
  const times = records.map(({ ts }) => new Date(ts).toLocaleTimeString());
  const count = (kind: "cache_read" | "cache_write" | "input_uncached") =>
    records.map(({ tokens }) => tokens?.[kind] ?? 0);
  const chart = element("div", { class: "chart", attributes: { "aria-hidden": "true" } });
  const columns: TableColumn<LiveRequest>[] = [
    { head: "time", value: ({ ts }) => ts, text: ({ ts }) => new Date(ts).toLocaleTimeString() },
    { head: "from cache", value: ({ tokens }) => tokens?.cache_read ?? 0 },
    { head: "written to cache", value: ({ tokens }) => tokens?.cache_write ?? 0 },
    { head: "uncached", value: ({ tokens }) => tokens?.input_uncached ?? 0 },
    { head: "tokens out", value: ({ tokens }) => tokens?.output ?? 0 },
    { head: "model", value: ({ model, model_requested: requested }) => model ?? requested ?? "" },
    {
      head: "took",
      value: ({ duration_ms: took }) => took,
      text: ({ duration_ms: took }) => formatSeconds(took),
    },
    { head: "outcome", value: ({ outcome }) => outcome ?? "" },
  ];
  parent.append(
    element("p", {}, "Input of each request, from below: read from the cache, written to it, uncached."),
    chart,
    sortableTable("Requests of this session", columns, records, null),
  );
  const series = [
    { name: "from cache", values: count("cache_read") },
    { name: "written to cache", values: count("cache_write") },
    { name: "uncached", values: count("input_uncached") },
  ];
  drawChart(chart, times, series, "tokens");
}
