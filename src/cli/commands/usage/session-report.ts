import type { Config } from "../../../core/config/config.ts";
import { SANDBOX_UPSTREAM } from "../../../core/config/names.ts";
import { Failure } from "../../../core/failure.ts";
import type { Calendar } from "../../../core/ledger/calendar.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { Period } from "../../../core/ledger/period.ts";
import { isWanted, type RecordFilter } from "../../../core/ledger/record-filter.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { buildAgentTree, type AgentLine } from "../../../core/ledger/session/agent-tree.ts";
import { Tally } from "../../../core/ledger/tally.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { AmbiguousId } from "../../ledger/ambiguous-id.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { REPORT_VERSION, toFields } from "./document.ts";
import { readUsage } from "./read-usage.ts";
import { remarksOn, type LedgerReport } from "./report.ts";
import { documentMisses, readMisses, renderMisses, type SessionMiss } from "./session-misses.ts";
import { explainTotal, hasFootnotes } from "./explain-total.ts";
import { describeHidden } from "./sentences.ts";
import { renderTable, type View } from "./table.ts";

/** What the rows of the ledger are told apart by, in the order of the names below. */
const BY: Grouping[] = ["session", "agent", "agent_parent", "agent_kind"];

/** What a session used. */
interface SessionReport {
  id: string;
  report: LedgerReport;
  own: Tree;
  sandbox: Tree;
  /** The requests that missed the cache, the latest ones. */
  misses: readonly SessionMiss[];
}

/** The lines of a session, and the same as rows of a table. */
interface Tree {
  lines: readonly AgentLine[];
  sums: Sums;
}

/** Which requests of a session count. `zone`: null for the time zone of this process. */
interface SessionQuestion {
  period: Period;
  calendar: Calendar;
  zone: string | null;
  filter: RecordFilter;
}

/**
 * Sums up the ledger for a session.
 * @param given its id, or the beginning of it that no other session of the period has
 * @throws Failure where none of its requests is recorded, and where several sessions begin like this
 */
export async function readSession(
  config: Config,
  given: string,
  asked: SessionQuestion,
): Promise<SessionReport> {
  const report = await readUsage(config, { by: BY, ...asked });
  const id = findSessionId(report, given);
  const own = treeOf(id, report, report.prices);
  const sandbox = treeOf(id, report.sandbox, report.prices);
  if (own.lines.length + sandbox.lines.length > 0) {
    const isOwn = missTest(id, own, asked);
    const misses = await readMisses(config, own.sums.total.sums.misses, isOwn, report.prices);
    return { id, report, own, sandbox, misses };
  }
  throw new Failure(
    `no request of session ${toPrintable(id)} is recorded for ${asked.period.title}`,
    "to see the sessions that are, type: tollkeeper usage --by session",
  );
}

/** Returns the id itself where a session has it, or none begins with it. */
function findSessionId({ rows, sandbox }: LedgerReport, given: string): string {
  const ids = new Set([...rows, ...sandbox.rows].flatMap(({ names: [id] }) => id ?? []));
  if (ids.has(given) || given === "") return given;
  const found = [...ids].filter((id) => id.startsWith(given));
  if (found.length > 1) throw new AmbiguousId("sessions", given, found);
  return found[0] ?? given;
}

/** Returns a test for the records of a session, and of the child sessions in it. */
function missTest(id: string, { lines }: Tree, { period, filter }: SessionQuestion) {
  const sessions = new Set<string | null>([id, ...lines.flatMap(({ agent }) => agent ?? [])]);
  const since = new Date(period.since).toISOString();
  const until = period.until === null ? null : new Date(period.until).toISOString();
  return (record: UsageRecord) =>
    sessions.has(record.session) &&
    record.upstream !== SANDBOX_UPSTREAM &&
    record.ts >= since &&
    (until === null || record.ts < until) &&
    isWanted(filter, record, record);
}

/** Renders a session as text: a tree with the total last, what explains it, and the same for requests to the sandbox. */
export function renderSession({ id, report, own, sandbox, misses }: SessionReport, view: View): string {
  const { period, calendar, prices } = report;
  const scope = `session ${toPrintable(id)} by agent, ${period.title} (${calendar.zone})`;
  const parts: string[] = [];
  const addProse = (paragraphs: readonly string[]) => {
    if (paragraphs.length > 0) parts.push(layOutProse(paragraphs, view.width));
  };
  for (const tree of [own, sandbox].filter(({ lines }) => lines.length > 0)) {
    const { text, hidden, hasMore } = renderTable(["agent", "kind"], tree.sums, view);
    const isMadeUp = tree === sandbox;
    addProse([
      isMadeUp ? `Sandbox: ${scope}. Its tokens are made up and cost nothing.` : `Usage of ${scope}`,
    ]);
    parts.push(`\n${text}\n`);
    const { total } = tree.sums;
    if (isMadeUp) addProse([describeHidden(hidden)].filter((one) => one !== null));
    else parts.push(explainTotal({ total, table: prices.table, by: null, hidden, hasMore }, view));
    if (!isMadeUp && misses.length > 0) parts.push(`\n${renderMisses(misses, view)}\n`);
  }
  addProse(remarksOnSession({ report, own }, hasFootnotes(view)));
  return parts.join("\n");
}

/** Returns what makes a session's numbers differ from what was spent, as `remarksOn` does for a report. */
export function remarksOnSession(
  { report, own }: Pick<SessionReport, "report" | "own">,
  isExplained = false,
): string[] {
  const { total, rows } = own.sums;
  return remarksOn({ ...report, unaskingTools: [], total, rows }, isExplained);
}

function treeOf(session: string, { rows }: Sums, prices: PriceBook): Tree {
  const all = rows.map(({ names: [of = null, agent = null, parent = null, kind = null], sums }) => ({
    session: of,
    agent,
    parent,
    kind,
    sums,
  }));
  const lines = buildAgentTree(session, all, prices);
  const total = new Tally(prices);
  for (const { sums } of lines) total.add(sums);
  return {
    lines,
    sums: {
      rows: lines.map((line) => rowOf(namesOf(line), line.sums, prices)),
      total: rowOf([], total, prices),
    },
  };
}

function rowOf(names: string[], sums: Tally, prices: PriceBook): ReportRow {
  return { names, sums, cost: sums.spending.cost(prices) };
}

/** Indented by who started whom. */
function namesOf({ agent, kind, depth }: AgentLine): string[] {
  const indent = depth === 0 ? "" : `${"  ".repeat(depth - 1)}└ `;
  return [`${indent}${agent ?? "main"}`, kind ?? ""];
}

/** Returns a session as a document for programs, as `toDocument` does for a report. */
export function sessionDocument({ id, report, own, sandbox, misses }: SessionReport): object {
  const { period, calendar, prices, skipped } = report;
  return {
    v: REPORT_VERSION,
    session: id,
    since: new Date(period.since).toISOString(),
    until: period.until === null ? null : new Date(period.until).toISOString(),
    time_zone: calendar.zone,
    prices: { source: prices.table.source, as_of: prices.table.asOf },
    ...toSums(own),
    misses: documentMisses(misses),
    sandbox: toSums(sandbox),
    unreadable_lines: skipped.count,
  };
}

function toSums({ lines, sums: { rows, total } }: Tree) {
  return {
    rows: rows.map((row, at) => ({ ...toNames(lines[at]), ...toFields(row) })),
    total: toFields(total),
  };
}

function toNames(line: AgentLine | undefined): object {
  return {
    agent: line?.agent ?? null,
    agent_parent: line?.parent ?? null,
    agent_kind: line?.kind ?? null,
    depth: line?.depth ?? 0,
  };
}
