import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { sumTokens } from "../../../core/ledger/tally.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { pluralize } from "../../terminal/format.ts";
import { shortDay } from "../../terminal/short-time.ts";
import { sumOfRows, type LedgerReport } from "./report.ts";

/** What a person asks for sessions by: each has its tool and its hours. */
export const SESSION_GROUPINGS: readonly Grouping[] = ["session", "tool", "hour"];

/** The names of a row. */
const HEADS = ["session", "tool", "last used"];

/** So many sessions are listed unless all are asked for. */
const MOST_LISTED = 20;

/** An id is never shown shorter than this. */
const LEAST_ID = 8;

/**
 * Returns a report by {@link SESSION_GROUPINGS} with a row for each session: the beginning of its id that no other one has, its tools, and the
 * last hour in which it was used. The dearest come first, and those that are not listed are one row.
 */
export function listSessions(report: LedgerReport, areAllListed: boolean): LedgerReport {
  const { prices, sandbox } = report;
  return {
    ...report,
    by: ["session"],
    heads: HEADS,
    ...gather(report, prices, areAllListed),
    sandbox: gather(sandbox, prices, areAllListed),
  };
}

/** A session before its rows are added up: of thousands, few are listed. */
interface Session {
  id: string | null;
  parts: ReportRow[];
  amount: bigint;
  tokens: number;
}

function gather({ rows, total }: Sums, prices: PriceBook, areAllListed: boolean): Sums {
  const sessions = sessionsOf(rows).toSorted(compare);
  const length = lengthOfIds(sessions.flatMap(({ id }) => id ?? []));
  const count = areAllListed || sessions.length === MOST_LISTED + 1 ? sessions.length : MOST_LISTED;
  const listed = sessions.slice(0, count).map(({ id, parts }) => {
    const tools = new Set(parts.map(({ names }) => names[1] ?? "unknown"));
    const hours = parts.flatMap(({ names }) => names[2] ?? []).toSorted();
    const names = [
      id === null ? null : id.slice(0, length),
      describeTools([...tools]),
      shortDay(hours.at(-1) ?? ""),
    ];
    return sumOfRows(names, parts, prices);
  });
  const others = sessions.slice(count);
  if (others.length === 0) return { rows: listed, total };
  const names = [pluralize(others.length, "other"), "--all", ""];
  const rest = sumOfRows(
    names,
    others.flatMap(({ parts }) => parts),
    prices,
  );
  return { rows: [...listed, rest], total };
}

function sessionsOf(rows: readonly ReportRow[]): Session[] {
  const sessions = new Map<string | null, Session>();
  for (const row of rows) {
    const id = row.names[0] ?? null;
    let session = sessions.get(id);
    if (session === undefined) sessions.set(id, (session = { id, parts: [], amount: 0n, tokens: 0 }));
    session.parts.push(row);
    session.amount += row.cost.amount;
    session.tokens += sumTokens(row.sums);
  }
  return [...sessions.values()];
}

/** Returns how long the beginnings of ids have to be so that no two are the same. */
function lengthOfIds(ids: readonly string[]): number {
  const longest = ids.reduce((most, { length }) => Math.max(most, length), LEAST_ID);
  for (let length = LEAST_ID; length < longest; length += 1)
    if (new Set(ids.map((id) => id.slice(0, length))).size === ids.length) return length;
  return longest;
}

/** Some programs share a session. Many tools without one are only counted. */
function describeTools(tools: readonly string[]): string {
  return tools.length > 2 ? pluralize(tools.length, "tool") : tools.join(", ");
}

function compare(one: Session, other: Session): number {
  if (one.amount !== other.amount) return one.amount > other.amount ? -1 : 1;
  return other.tokens - one.tokens;
}
