import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { sumOfRows } from "../../../core/ledger/report/summed-row.ts";
import { pluralize } from "../../terminal/format.ts";
import { shortDay } from "../../terminal/short-time.ts";
import type { LedgerReport } from "./report.ts";

/** What a person asks for sessions by: each has its tool, its project and its hours. */
export const SESSION_GROUPINGS: readonly Grouping[] = ["session", "tool", "project", "hour"];

/** The names of a row. */
const HEADS = ["session", "tool", "project", "last used"];

/** So many sessions are listed unless all are asked for. */
const MOST_LISTED = 20;

/** An id is never shown shorter than this. */
const LEAST_ID = 8;

/**
 * Returns a report by {@link SESSION_GROUPINGS} with a row for each session: the beginning of its id that no other one has, its tools and projects,
 * and the last hour in which it was used. The dearest come first, and those that are not listed are one row.
 */
export function listSessions(report: LedgerReport, areAllListed: boolean): LedgerReport {
  const { sandbox } = report;
  return {
    ...report,
    by: ["session"],
    heads: HEADS,
    ...gather(report, areAllListed),
    sandbox: gather(sandbox, areAllListed),
  };
}

/** A session and its rows, which follow one another in the report. */
interface Session {
  id: string | null;
  parts: ReportRow[];
}

function gather({ rows, total }: Sums, areAllListed: boolean): Sums {
  const sessions = sessionsOf(rows);
  const length = lengthOfIds(sessions.flatMap(({ id }) => id ?? []));
  const count = areAllListed || sessions.length === MOST_LISTED + 1 ? sessions.length : MOST_LISTED;
  const listed = sessions.slice(0, count).map(({ id, parts }) => {
    const named = parts.map(({ names }) => names);
    const tools = new Set(named.map(([, tool]) => tool ?? "unknown"));
    const projects = new Set(named.map(([, , project]) => project ?? null));
    const hours = named.flatMap(([, , , hour]) => hour ?? []).toSorted();
    const names = [
      id === null ? null : id.slice(0, length),
      describeTools([...tools]),
      projects.size > 1 ? pluralize(projects.size, "project") : ([...projects][0] ?? null),
      shortDay(hours.at(-1) ?? ""),
    ];
    return sumOfRows(names, parts);
  });
  const others = sessions.slice(count);
  if (others.length === 0) return { rows: listed, total };
  const names = [pluralize(others.length, "other"), "--all", "", ""];
  const rest = sumOfRows(
    names,
    others.flatMap(({ parts }) => parts),
  );
  return { rows: [...listed, rest], total };
}

/** Returns the sessions of a report, which has the dearest first. */
function sessionsOf(rows: readonly ReportRow[]): Session[] {
  const sessions: Session[] = [];
  for (const row of rows) {
    const id = row.names[0] ?? null;
    const last = sessions.at(-1);
    if (last !== undefined && last.id === id) last.parts.push(row);
    else sessions.push({ id, parts: [row] });
  }
  return sessions;
}

/** Returns how long the beginnings of ids have to be so that no two are the same. */
function lengthOfIds(ids: readonly string[]): number {
  let length = LEAST_ID;
  let before = "";
  // Of sorted ids, those with the longest common beginning are neighbours.
  for (const id of ids.toSorted()) {
    while (id.length >= length && before.startsWith(id.slice(0, length))) length += 1;
    before = id;
  }
  return length;
}

/** Some programs share a session. Many tools without one are only counted. */
function describeTools(tools: readonly string[]): string {
  return tools.length > 2 ? pluralize(tools.length, "tool") : tools.join(", ");
}
