import type { NamedRow, PricedRecord, Row } from "../feed-types.ts";
import { dayOf } from "../times.ts";
import { allOf, nameIn } from "../usage-sums.ts";

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

/** A session of a tool, as the list has it. */
export interface ListedSession {
  id: string;
  tool: string;
  row: Row;
  /** Whole paths. */
  projects: readonly string[];
  branches: readonly string[];
  /** Those of the last days, the dearest first. */
  models: readonly string[];
  /** The local day, with the time of day or its hour if that is known: `2026-11-19 14:05:09`, `2026-11-19 14:00`. It sorts as text. */
  lastUsed: string;
  /** Milliseconds from its first request of the period to its last; whole days where only those are known; null if not even those are. */
  lasted: number | null;
  /** Whether it lasted that long at most, because only hours are known. */
  isLastedMost: boolean;
}

/** What the ledger says of sessions, each in rows of its own. */
interface SessionRows {
  tools: readonly Row[];
  /** With their projects, branches and days. The same names may come in many rows. */
  places: readonly NamedRow[];
  /** With their hours and models: of the last days only, as there are many. */
  hours: readonly Row[];
}

/** Joins what is known of each session. Records say more than sums: when exactly, where all of a session are among them. */
export function listSessions(
  { tools, places, hours }: SessionRows,
  records: readonly PricedRecord[],
): ListedSession[] {
  const daysOf = namesBySession(places, "day");
  const hoursOf = namesBySession(hours, "hour");
  const projectsOf = namesBySession(places, "project");
  const branchesOf = namesBySession(places, "branch");
  const modelsOf = modelsBySession(hours);
  const timesOf = new Map<string, string[]>();
  for (const { session, tool, ts } of records) {
    const key = JSON.stringify([session, tool]);
    const times = timesOf.get(key);
    if (times === undefined) timesOf.set(key, [ts]);
    else times.push(ts);
  }
  return tools.map((row) => {
    const [id, tool] = [nameIn(row, "session"), nameIn(row, "tool")];
    const times = (timesOf.get(JSON.stringify([id, tool])) ?? []).toSorted();
    const [projects, branches, models] = [projectsOf, branchesOf, modelsOf].map(
      (named) => named.get(id) ?? [],
    );
    const names = { id, tool, row, projects: projects ?? [], branches: branches ?? [], models: models ?? [] };
    return { ...names, ...timesIn(row, { days: daysOf.get(id) ?? [], hours: hoursOf.get(id) ?? [], times }) };
  });
}

/** When a session was used, by its days, its hours, and those of its requests whose times are known. */
function timesIn(
  row: Row,
  known: Readonly<Record<"days" | "hours" | "times", readonly string[]>>,
): Pick<ListedSession, "lastUsed" | "lasted" | "isLastedMost"> {
  const { days, hours, times } = known;
  const [firstDay, lastDay] = [days[0], days.at(-1)];
  const [firstHour, lastHour] = [hours[0], hours.at(-1)];
  const [first, last] = [times[0], times.at(-1)];
  const lastUsed = last === undefined ? (lastHour ?? lastDay ?? "") : localTime(new Date(last));
  if (first !== undefined && last !== undefined && times.length >= allOf(row))
    return { lastUsed, lasted: Date.parse(last) - Date.parse(first), isLastedMost: false };
  // Its first day may be before those whose hours are known.
  if (
    firstHour !== undefined &&
    lastHour !== undefined &&
    !(firstDay !== undefined && firstDay < dayIn(firstHour))
  ) {
    const end = last === undefined ? startOfHour(lastHour) + HOUR_MS : Date.parse(last);
    return { lastUsed, lasted: end - startOfHour(firstHour), isLastedMost: true };
  }
  const isOneDay = firstDay === undefined || lastDay === undefined || firstDay === lastDay;
  const lasted = isOneDay ? null : Date.parse(lastDay) - Date.parse(firstDay) + DAY_MS;
  return { lastUsed, lasted, isLastedMost: false };
}

/** Of an hour as reports name it, such as `2026-11-19 14:00`. */
function startOfHour(hour: string): number {
  return new Date(hour.replace(" ", "T")).getTime();
}

/** Returns the day of a time that begins with it. */
export function dayIn(time: string): string {
  return time.slice(0, "2026-11-19".length);
}

function localTime(time: Date): string {
  return `${dayOf(time)} ${time.toTimeString().slice(0, "hh:mm:ss".length)}`;
}

/** The names that the rows of each session have, each once, in their order as text. */
function namesBySession(rows: readonly NamedRow[], grouping: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, Set<string>>();
  for (const row of rows) {
    const name = row[grouping];
    if (typeof name !== "string") continue;
    const session = nameIn(row, "session");
    const others = names.get(session);
    if (others === undefined) names.set(session, new Set([name]));
    else others.add(name);
  }
  return new Map(Array.from(names, ([session, all]) => [session, [...all].sort()]));
}

/** The models of each session, the dearest first. What a plan or an own key paid counts by its worth; what nothing is known of, by its requests. */
function modelsBySession(rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const sessions = new Map<string, Map<string, { dollars: number; requests: number }>>();
  for (const row of rows) {
    const { model, requests, cost_usd: cost, plan_worth_usd: byPlan, own_worth_usd: byOwnKey } = row;
    if (typeof model !== "string") continue;
    const session = nameIn(row, "session");
    const models = sessions.get(session) ?? new Map<string, { dollars: number; requests: number }>();
    sessions.set(session, models);
    const before = models.get(model) ?? { dollars: 0, requests: 0 };
    const dollars = [cost, byPlan, byOwnKey].reduce((sum, usd) => sum + Number(usd ?? 0), before.dollars);
    models.set(model, { dollars, requests: before.requests + requests });
  }
  return new Map(Array.from(sessions, ([session, models]) => [session, byDearness(models)]));
}

function byDearness(models: ReadonlyMap<string, { dollars: number; requests: number }>): string[] {
  return [...models]
    .toSorted(([, one], [, other]) => other.dollars - one.dollars || other.requests - one.requests)
    .map(([model]) => model);
}

/** Returns whether a session has all words of a search in its project, branch, tool, model or id. */
export function isFound({ id, tool, projects, branches, models }: ListedSession, search: string): boolean {
  const text = [...projects, ...branches, tool, ...models, id].join("\n").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
