import { chartOf } from "./chart.ts";
import { describeCost } from "./cost.ts";
import { card, element, replaceContents } from "./elements.ts";
import type { PricedRecord, Row, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import {
  formatCount,
  formatDollars,
  formatMoment,
  formatSeconds,
  formatShare,
  formatTimeOfDay,
  shortenPath,
} from "./numbers.ts";
import { periodControls } from "./period.ts";
import { showRecord } from "./record-dialog.ts";
import { costsByClass, followSession, type SessionRequest } from "./sessions/session-requests.ts";
import { questionOf, type Change, type State } from "./state.ts";
import { sortableTable, type TableColumn } from "./table.ts";
import { nameBriefly } from "./time-names.ts";
import { TIME_ZONE } from "./times.ts";
import { costOf, failedOf, inputOf, nameIn, SUM_COLUMNS } from "./usage-sums.ts";

/** As many requests of a session as a chart can tell apart. */
const MOST_REQUESTS = 300;

/** Shows the sessions of a period, or one of them with its requests: how its context grew, and what the cache saved. */
export async function renderSessions(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const question = { timezone: TIME_ZONE, ...questionOf(state) };
  const read = async (by: string) => {
    const { rows, sandbox } = await readFeed<UsageReport>("usage", { ...question, by }, signal);
    return [...rows, ...sandbox.rows].filter((row) => typeof row["session"] === "string");
  };
  if (state.filter["session"] !== undefined) {
    const [rows, records] = await Promise.all([
      read("session,tool"),
      readRecords({ ...question, lines: String(MOST_REQUESTS) }, signal),
    ]);
    if (!signal.aborted) replaceContents(parent, ...sessionOf(rows, followSession(records), state, change));
    return;
  }
  const [rows, days, projects] = await Promise.all(
    ["session,tool", "session,day", "session,project"].map(read),
  );
  if (signal.aborted) return;
  const about = { days: namesBySession(days, "day"), projects: namesBySession(projects, "project") };
  replaceContents(
    parent,
    rows === undefined || rows.length === 0
      ? element("p", { class: "empty" }, "No tool has named a session in this period.")
      : sessionTable(rows, about, state, change),
  );
}

/** Controls for the period, and the way back from one session. */
export function sessionsControls(state: State, change: Change): HTMLElement[] {
  const { session, ...rest } = state.filter;
  const back = () => change({ filter: rest, sort: undefined });
  return [
    ...(session === undefined ? [] : [element("button", { onclick: back }, "All sessions")]),
    ...periodControls(state, change),
  ];
}

type NamesBySession = ReadonlyMap<string, readonly string[]>;

/** The names that the rows of a session have, the last one in alphabetical order first. */
function namesBySession(rows: readonly Row[] = [], grouping: string): NamesBySession {
  const names = new Map<string, string[]>();
  for (const row of rows) {
    if (typeof row[grouping] !== "string") continue;
    const session = nameIn(row, "session");
    names.set(session, [...(names.get(session) ?? []), row[grouping]]);
  }
  for (const all of names.values()) all.sort().reverse();
  return names;
}

function sessionTable(
  rows: readonly Row[],
  { days, projects }: { days: NamesBySession; projects: NamesBySession },
  { filter, sort }: State,
  change: Change,
): HTMLElement {
  const link = (row: Row) => {
    const session = nameIn(row, "session");
    const open = () => change({ filter: { ...filter, session }, sort: undefined });
    return [element("button", { class: "link identifier", title: session, onclick: open }, session)];
  };
  const lastDay = (row: Row) => days.get(nameIn(row, "session"))?.[0] ?? "";
  const projectsOf = (row: Row) => projects.get(nameIn(row, "session"))?.toReversed() ?? [];
  const [cost, ...others] = SUM_COLUMNS;
  const columns: TableColumn<Row>[] = [
    { head: "session", value: (row) => nameIn(row, "session"), contents: link },
    ...(cost === undefined ? [] : [cost]),
    {
      head: "last used",
      value: lastDay,
      text: (row) => (lastDay(row) === "" ? "" : nameBriefly(lastDay(row), "day")),
      isWords: true,
    },
    { head: "tool", value: (row) => nameIn(row, "tool"), isWords: true },
    {
      head: "project",
      value: (row) => projectsOf(row).join(", "),
      text: (row) => projectsOf(row).map(shortenPath).join(", "),
      exact: (row) => projectsOf(row).join(", "),
      isWords: true,
    },
    // The sign at the cost says how certain it is.
    ...others.filter(({ head }) => head !== "certainty"),
  ];
  return sortableTable("Sessions", columns, rows, {
    sort,
    onSort: (chosen: string) => change({ sort: chosen }),
  });
}

/** What a session cost, and why. */
function sessionOf(
  rows: readonly Row[],
  requests: readonly SessionRequest[],
  state: State,
  change: Change,
): HTMLElement[] {
  if (rows.length === 0 || requests.length === 0)
    return [element("p", { class: "empty" }, "This session has no request in this period.")];
  const records = requests.map(({ record }) => record);
  const tokens = (kind: "cache_read" | "cache_write" | "input_uncached") =>
    records.map((record) => record.tokens?.[kind] ?? 0);
  const title = `Requests of this session${records.length === MOST_REQUESTS ? `, the last ${MOST_REQUESTS}` : ""}`;
  return [
    ...rows.map((row) => sessionGlance(row)),
    element(
      "ul",
      { class: "reasons" },
      ...[describeGrowth(records), describeMisses(requests), describeClasses(records)]
        .filter((sentence) => sentence !== "")
        .map((sentence) => element("li", {}, sentence)),
    ),
    chartOf({
      title: "Input tokens of each request, and the cost so far",
      times: records.map(({ ts }) => ({ brief: formatTimeOfDay(ts), whole: formatMoment(ts) })),
      series: [
        { name: "from cache", values: tokens("cache_read") },
        { name: "written to cache", values: tokens("cache_write") },
        { name: "uncached", values: tokens("input_uncached") },
      ],
      unit: "tokens",
      line: { name: "cost so far", values: requests.map(({ costSoFar }) => costSoFar ?? 0) },
    }),
    sortableTable(title, REQUEST_COLUMNS, requests, {
      sort: state.sort ?? "time",
      onSort: (sort: string) => change({ sort }),
      toneOf: ({ hasMissed }) => (hasMissed ? "warning" : ""),
    }),
  ];
}

function sessionGlance(row: Row): HTMLElement {
  return element(
    "section",
    { class: "glance", attributes: { "aria-label": "the session at a glance" } },
    card("Cost", costOf(row), nameIn(row, "session")),
    card("Tool", nameIn(row, "tool")),
    card("Requests", formatCount(row.requests)),
    card("Tokens in", formatCount(inputOf(row))),
    card("From cache", formatShare(row.cache_read, inputOf(row)) || "–"),
    card("Tokens out", formatCount(row.output)),
    card("Failed", formatCount(failedOf(row))),
  );
}

/** A request is charged for all that was said before it. */
function describeGrowth(records: readonly PricedRecord[]): string {
  const inputs = records.flatMap(({ tokens }) => (tokens === null ? [] : [tokens.input_total]));
  const [first, last] = [inputs[0], inputs.at(-1)];
  if (first === undefined || last === undefined || inputs.length < 2) return "";
  const most = Math.max(...inputs);
  const peak = most > last ? `, with a peak of ${formatCount(most)}` : "";
  return `The input per request went from ${formatCount(first)} to ${formatCount(last)} tokens${peak}. Each request is charged for its whole input, including what earlier requests already sent.`;
}

/** Why the session cost what it did, as far as the cache is the reason. */
function describeMisses(requests: readonly SessionRequest[]): string {
  const isUncached = requests.every(({ record: { tokens } }) => {
    return tokens === null || tokens.cache_read + tokens.cache_write === 0;
  });
  if (isUncached) return "No request read from the cache or wrote to it.";
  const missed = requests.filter(({ hasMissed }) => hasMissed);
  if (missed.length === 0) return "Each request found in the cache what the one before had left there.";
  const cost = missed.reduce((sum, { record }) => sum + Number(record.cost.amount_usd), 0);
  const all = requests.at(-1)?.costSoFar ?? 0;
  return `${formatCount(missed.length)} of ${formatCount(requests.length)} requests did not find in the cache what the one before had left there. They cost ${formatDollars(cost)} of ${formatDollars(all)}.`;
}

/** What the money was spent on, the most first. */
function describeClasses(records: readonly PricedRecord[]): string {
  const costs = costsByClass(records);
  const all = costs.reduce((sum, { dollars }) => sum + dollars, 0);
  if (all === 0) return "";
  const parts = costs.map(
    ({ name, dollars }) => `${name} ${formatDollars(dollars)} (${formatShare(dollars, all)})`,
  );
  return `Cost by class: ${parts.join(", ")}.`;
}

/** What kind of agent asked, and which one where there are several. */
function agentOf({ agent, agent_kind: kind }: PricedRecord): string {
  return [kind ?? "", agent?.slice(0, 8) ?? ""].join(" ").trim();
}

const REQUEST_COLUMNS: readonly TableColumn<SessionRequest>[] = [
  {
    head: "time",
    value: ({ record }) => record.ts,
    contents: ({ record }) => [
      element("button", { class: "link", onclick: () => showRecord(record) }, formatMoment(record.ts)),
    ],
  },
  { head: "agent", value: ({ record }) => agentOf(record) },
  {
    head: "cost",
    value: ({ record }) => Number(record.cost.amount_usd),
    text: ({ record }) => describeCost(record.cost),
    exact: ({ record }) => record.cost.amount_usd ?? "",
  },
  {
    head: "cost so far",
    value: ({ costSoFar }) => costSoFar ?? 0,
    text: ({ costSoFar }) => (costSoFar === null ? "unknown" : formatDollars(costSoFar)),
    exact: ({ costSoFar }) => String(costSoFar ?? ""),
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
