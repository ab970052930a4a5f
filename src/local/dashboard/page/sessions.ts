import { element, replaceContents } from "./elements.ts";
import type { PricedRecord, Row, Sums, UsageReport } from "./feed-types.ts";
import { readFeed, readRecords } from "./feeds.ts";
import { nothingMatches, nothingYet } from "./frame/empty.ts";
import { filterControls, periodControls, searchBox } from "./period.ts";
import { listSessions } from "./sessions/listed-session.ts";
import { sessionOf } from "./sessions/one-session.ts";
import { SessionList } from "./sessions/session-list.ts";
import { questionOf, type Change, type State } from "./state.ts";
import { dayOf, spanOf, startOfDay, TIME_ZONE } from "./times.ts";

/** As many requests of a session as a chart can tell apart. */
const MOST_REQUESTS = 300;
/** The last requests say when exactly their sessions were used. More would take longer to read than the rest. */
const MOST_TIMES = 1_000;
/** Earlier days have sums that are faster to read than their records. */
const DAYS_WITH_TIMES = 2;
/** So many have sums by the hour and the model. A year would have tens of thousands of them. */
const DAYS_WITH_HOURS = 31;
/** By what a model cost, the dearest one of a session is found. */
const DEARNESS = "requests,cost_usd,plan_worth_usd,own_worth_usd";
/** A session may have begun so many days before a period. */
const DAYS_OF_SESSION = 30;

/** What the list shows of each session. Times to the first token, which it does not show, take as long to read as the rest. */
const LISTED: Record<keyof Sums, true> = {
  requests: true,
  failed: true,
  refused: true,
  input_uncached: true,
  cache_read: true,
  cache_write: true,
  output: true,
  partial: true,
  absent: true,
  cut: true,
  failed_midway: true,
  plan_requests: true,
  extra_requests: true,
  own_requests: true,
  cost_usd: true,
  cost_is_exact: true,
  extra_cost_usd: true,
  plan_worth_usd: true,
  plan_worth_is_exact: true,
  own_worth_usd: true,
  own_worth_is_exact: true,
  cache_saved_usd: true,
  unpriced: true,
};

/** What a reader looks for, also while the figures are read. */
let search = "";
let list: SessionList | null = null;

/** Shows the sessions of a period, or one of them with its requests: how its context grew, and what the cache saved. */
export async function renderSessions(
  parent: HTMLElement,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const id = state.filter["session"];
  const shown =
    id === undefined ? await readList(state, change, signal) : await readSession(id, state, change, signal);
  if (!signal.aborted) replaceContents(parent, ...shown);
}

/** Controls for the period and the search; of one session, which is shown whole, the way back. */
export function sessionsControls(state: State, change: Change): HTMLElement[] {
  const { session, ...filter } = state.filter;
  const back = () => change({ filter, sort: undefined });
  search = state.search;
  const onSearch = (words: string) => {
    search = words;
    change({ search });
    list?.show(search);
  };
  if (session !== undefined) return [element("button", { onclick: back }, "‹ All sessions")];
  return [
    ...periodControls(state, change),
    searchBox("Project, branch, tool, model or id", search, onSearch),
    ...filterControls(state, change),
  ];
}

async function readList(state: State, change: Change, signal: AbortSignal): Promise<HTMLElement[]> {
  const question = questionOf(state);
  const ofHours = lastDays(state, DAYS_WITH_HOURS);
  const [tools, places, hours, records] = await Promise.all([
    readRows("session,tool", { ...question, fields: Object.keys(LISTED).join() }, signal),
    readRows("session,project,branch,day", { ...question, fields: "requests" }, signal),
    readRows("session,hour,model", { ...ofHours, fields: DEARNESS }, signal),
    readTimes(state, signal),
  ]);
  if (tools.length === 0)
    return [
      Object.keys(state.filter).length > 0
        ? nothingMatches(() => change({ filter: {} }))
        : nothingYet("No session in this period", false),
    ];
  list = new SessionList(listSessions({ tools, places, hours }, records), state, change);
  list.show(search);
  return [list.element];
}

/** Reads the last requests of a period, from its last days only. */
async function readTimes(state: State, signal: AbortSignal): Promise<PricedRecord[]> {
  const question = { timezone: TIME_ZONE, ...lastDays(state, DAYS_WITH_TIMES), lines: String(MOST_TIMES) };
  return readRecords(question, signal);
}

/** Asks about the last days of a period; about all of it if it has no more. */
function lastDays(state: State, days: number): Record<string, string> {
  const { from, to } = spanOf(state);
  const start = startOfDay(new Date(to.getTime() - 1), 1 - days);
  return from < start ? { ...questionOf(state), since: dayOf(start) } : questionOf(state);
}

async function readSession(
  id: string,
  state: State,
  change: Change,
  signal: AbortSignal,
): Promise<HTMLElement[]> {
  // All of it, whatever the period of the list is.
  const start = startOfDay(spanOf(state).from, -DAYS_OF_SESSION);
  const question = { ...questionOf({ ...state, until: undefined }), since: dayOf(start) };
  const days = (await readRows("session,day", question, signal)).map((row) => String(row["day"])).toSorted();
  // Sums of days are fast to read; records are not, so only those of its days are.
  const [firstDay, lastDay] = [days[0], days.at(-1)];
  const narrow =
    firstDay !== undefined && lastDay !== undefined
      ? { ...question, since: firstDay, until: lastDay }
      : question;
  const lines = String(MOST_REQUESTS);
  const [tools, agents, records] = await Promise.all([
    readRows("session,tool", question, signal),
    readRows("agent,agent_kind", narrow, signal),
    readRecords({ timezone: TIME_ZONE, ...narrow, lines }, signal),
  ]);
  return sessionOf({ id, tools, agents, records, firstDay: firstDay ?? null }, state.sort, change);
}

/** Returns what the ledger has, with the rows of the sandbox. Of sessions, only those with a name. */
async function readRows(
  by: string,
  question: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Row[]> {
  const asked = { timezone: TIME_ZONE, ...question, by };
  const { rows, sandbox } = await readFeed<UsageReport>("usage", asked, signal);
  return [...rows, ...sandbox.rows].filter(
    (row) => !("session" in row) || typeof row["session"] === "string",
  );
}
