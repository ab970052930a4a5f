import { chartOf } from "./chart.ts";
import { describeCost } from "./cost.ts";
import { element, replaceContents } from "./elements.ts";
import type { PricedRecord, Row, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import { formatCount, formatDollars, formatMoment, formatSeconds, formatShare } from "./numbers.ts";
import { periodControls } from "./period.ts";
import { followSession, type SessionRequest } from "./session-requests.ts";
import { questionOf, type Change, type State } from "./state.ts";
import { sortableTable, type TableColumn } from "./table.ts";
import { TIME_ZONE } from "./times.ts";
import { nameIn, SUM_COLUMNS } from "./usage-sums.ts";

/** As many requests of a session as a chart can tell apart. */
const MOST_REQUESTS = 300;

/** Shows the sessions of a period, or one of them with its requests: how its context grew, and what the cache saved. */
export async function renderSessions(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const { session } = state.filter;
  const question = { timezone: TIME_ZONE, ...questionOf(state) };
  const [report, records] = await Promise.all([
    readFeed<UsageReport>("usage", { ...question, by: "session,tool" }, signal),
    session === undefined ? [] : readRecords({ ...question, lines: String(MOST_REQUESTS) }, signal),
  ]);
  if (signal.aborted) return;
  const rows = [...report.rows, ...report.sandbox.rows].filter((row) => typeof row["session"] === "string");
  const requestSort = { sort: state.sort ?? "time", onSort: (sort: string) => change({ sort }) };
  replaceContents(
    parent,
    ...(rows.length === 0
      ? [element("p", {}, "No tool has named a session in this period.")]
      : [sessionTable(rows, state, change)]),
    ...(records.length === 0 ? [] : requestsOf(records, requestSort)),
  );
}

/** Controls for the period, and the way back from one session. */
export function sessionsControls(state: State, change: Change): HTMLElement[] {
  const { session, ...rest } = state.filter;
  const back = () => change({ filter: rest, sort: undefined });
  return [
    ...periodControls(state, change),
    ...(session === undefined ? [] : [element("button", { onclick: back }, "All sessions")]),
  ];
}

function sessionTable(rows: readonly Row[], { filter, sort }: State, change: Change): HTMLElement {
  const link = (row: Row) => {
    const session = nameIn(row, "session");
    const open = () => change({ filter: { ...filter, session }, sort: undefined });
    return [element("button", { class: "link", onclick: open }, session)];
  };
  const [cost, ...others] = SUM_COLUMNS;
  const columns: TableColumn<Row>[] = [
    { head: "session", value: (row) => nameIn(row, "session"), contents: link },
    ...(cost === undefined ? [] : [cost]),
    { head: "tool", value: (row) => nameIn(row, "tool"), isWords: true },
    ...others,
  ];
  // Of one session, what a reader sorts is its requests.
  const isOne = filter["session"] !== undefined;
  return sortableTable("Sessions", columns, rows, {
    ...(!isOne && { sort, onSort: (chosen: string) => change({ sort: chosen }) }),
  });
}

function requestsOf(
  records: readonly PricedRecord[],
  sorting: { sort: string; onSort(sort: string): void },
): HTMLElement[] {
  const requests = followSession(records);
  const title = `Requests of this session${records.length === MOST_REQUESTS ? `, the last ${MOST_REQUESTS}` : ""}`;
  const tokens = (kind: "cache_read" | "cache_write" | "input_uncached") =>
    records.map((record) => record.tokens?.[kind] ?? 0);
  return [
    element("p", {}, describeMisses(requests)),
    element(
      "p",
      { class: "remark" },
      "Bars: input of each request, from below: read from the cache, written to it, uncached. Line: cost so far.",
    ),
    chartOf({
      times: records.map(({ ts }) => formatMoment(ts)),
      series: [
        { name: "from cache", values: tokens("cache_read") },
        { name: "written to cache", values: tokens("cache_write") },
        { name: "uncached", values: tokens("input_uncached") },
      ],
      unit: "tokens",
      line: { name: "cost so far", values: requests.map(({ costSoFar }) => costSoFar) },
    }),
    sortableTable(title, REQUEST_COLUMNS, requests, {
      ...sorting,
      toneOf: ({ hasMissed }) => (hasMissed ? "warning" : ""),
    }),
  ];
}

/** Why the session cost what it did, as far as the cache is the reason. */
function describeMisses(requests: readonly SessionRequest[]): string {
  const missed = requests.filter(({ hasMissed }) => hasMissed);
  if (missed.length === 0) return "Each request found in the cache what the one before had left there.";
  const cost = missed.reduce((sum, { record }) => sum + Number(record.cost.amount_usd), 0);
  const all = requests.at(-1)?.costSoFar ?? 0;
  return `${formatCount(missed.length)} of ${formatCount(requests.length)} requests did not find in the cache what the one before had left there. They cost ${formatDollars(cost)} of ${formatDollars(all)}.`;
}

const REQUEST_COLUMNS: readonly TableColumn<SessionRequest>[] = [
  { head: "time", value: ({ record }) => record.ts, text: ({ record }) => formatMoment(record.ts) },
  {
    head: "cost",
    value: ({ record }) => Number(record.cost.amount_usd),
    text: ({ record }) => describeCost(record.cost),
    exact: ({ record }) => record.cost.amount_usd ?? "",
  },
  {
    head: "cost so far",
    value: ({ costSoFar }) => costSoFar,
    text: ({ costSoFar }) => formatDollars(costSoFar),
  },
  { head: "tokens in", value: ({ record }) => record.tokens?.input_total ?? 0 },
  {
    head: "from cache",
    value: ({ record: { tokens } }) => (tokens?.cache_read ?? 0) / (tokens?.input_total || 1),
    text: ({ record: { tokens }, hasMissed }) =>
      `${hasMissed ? "missed, " : ""}${formatShare(tokens?.cache_read ?? 0, tokens?.input_total ?? 0)}`,
  },
  { head: "written to cache", value: ({ record }) => record.tokens?.cache_write ?? 0 },
  { head: "tokens out", value: ({ record }) => record.tokens?.output ?? 0 },
  { head: "model", value: ({ record }) => record.model ?? record.model_requested ?? "", isWords: true },
  {
    head: "took",
    value: ({ record }) => record.duration_ms,
    text: ({ record }) => formatSeconds(record.duration_ms),
  },
  { head: "outcome", value: ({ record }) => record.outcome, isWords: true },
];
