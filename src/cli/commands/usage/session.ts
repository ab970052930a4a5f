import { homeDirectory } from "../../../adapters/paths.ts";
import { Failure } from "../../../core/failure.ts";
import type { Grouping } from "../../../core/ledger/grouping.ts";
import type { ReportRow, Sums } from "../../../core/ledger/report.ts";
import { buildAgentTree, type AgentLine } from "../../../core/ledger/session/agent-tree.ts";
import { Tally } from "../../../core/ledger/tally.ts";
import type { PriceBook } from "../../../core/price/price-book.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { readCalendar, readPeriod, zoneOf } from "../../ledger/period-options.ts";
import { loadConfig } from "../../load-config.ts";
import { hasColours, printJson, printStyled } from "../../terminal/console.ts";
import { printProse } from "../../terminal/prose.ts";
import { REPORT_VERSION, toFields } from "./document.ts";
import { readUsage } from "./read-usage.ts";
import { remarksOn, type LedgerReport } from "./report.ts";
import { explainTotal, hasFootnotes } from "./explain-total.ts";
import { describeHidden } from "./sentences.ts";
import type { SessionArguments } from "./session-options.ts";
import { renderTable } from "./table.ts";

/** What the rows of the ledger are told apart by, in the order of the names below. */
const BY: Grouping[] = ["session", "agent", "agent_parent", "agent_kind"];

/** `tollkeeper usage session ID`: what each agent of a session used, as a tree. */
export async function showSession(given: SessionArguments): Promise<void> {
  const { id, json, wide } = given;
  const calendar = readCalendar(given);
  const period = readPeriod(given, calendar);
  const { tool, model, project, branch, upstream, key } = given;
  const filter = { tool, model, project, branch, upstream, key };
  const config = await loadConfig(given.config);
  const report = await readUsage(config, { by: BY, period, calendar, zone: zoneOf(given), filter });
  const own = treeOf(id, report, report.prices);
  const sandbox = treeOf(id, report.sandbox, report.prices);
  if (own.lines.length + sandbox.lines.length === 0)
    throw new Failure(
      `no request of session ${toPrintable(id)} is recorded for ${period.title}`,
      "to see the sessions that are, type: tollkeeper usage --by session",
    );
  if (json === true) return printJson(toDocument(id, report, own, sandbox));
  const view = {
    width: process.stdout.columns || Infinity,
    isTerminal: process.stdout.isTTY,
    isColoured: hasColours(),
    isWide: wide === true,
    home: homeDirectory(),
  };
  const scope = `session ${toPrintable(id)} by agent, ${period.title} (${calendar.zone})`;
  for (const tree of [own, sandbox].filter(({ lines }) => lines.length > 0)) {
    const { text, hidden } = renderTable(["agent", "kind"], tree.sums, view);
    const isMadeUp = tree === sandbox;
    printProse([
      isMadeUp ? `Sandbox: ${scope}. Its tokens are made up and cost nothing.` : `Usage of ${scope}`,
    ]);
    printStyled(`\n${text}\n`);
    const { total } = tree.sums;
    if (isMadeUp) printProse([describeHidden(hidden)].filter((one) => one !== null));
    else printStyled(explainTotal({ total, table: report.prices.table, by: null, hidden }, view));
  }
  const ofSession = { ...report, unaskingTools: [], total: own.sums.total, rows: own.sums.rows };
  printProse(remarksOn(ofSession, hasFootnotes(view)));
}

/** The lines of a session, and the same as rows of a table. */
interface Tree {
  lines: readonly AgentLine[];
  sums: Sums;
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
  return [`${indent}${agent ?? "main"}`, kind ?? "unknown"];
}

function toDocument(
  session: string,
  { period, calendar, prices, skipped }: LedgerReport,
  own: Tree,
  sandbox: Tree,
): object {
  const toSums = ({ lines, sums: { rows, total } }: Tree) => ({
    rows: rows.map((row, at) => ({ ...toNames(lines[at]), ...toFields(row) })),
    total: toFields(total),
  });
  return {
    v: REPORT_VERSION,
    session,
    since: new Date(period.since).toISOString(),
    until: period.until === null ? null : new Date(period.until).toISOString(),
    time_zone: calendar.zone,
    prices: { source: prices.table.source, as_of: prices.table.asOf },
    ...toSums(own),
    sandbox: toSums(sandbox),
    unreadable_lines: skipped.count,
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
