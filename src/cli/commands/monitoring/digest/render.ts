import { basename } from "node:path";
import { homeDirectory } from "../../../../adapters/paths.ts";
import type { Kind, Measure } from "../../../../core/digest/past.ts";
import type { Finding } from "../../../../core/digest/out-of-line.ts";
import type { UsualSpending } from "../../../../core/digest/usual-spending.ts";
import { sumTokens } from "../../../../core/ledger/tally.ts";
import type { ReportRow } from "../../../../core/ledger/report.ts";
import type { SpendingCost } from "../../../../core/price/spending.ts";
import { formatDollars } from "../../../../core/price/money.ts";
import { toPrintable } from "../../../../core/text/printable.ts";
import { formatCommand } from "../../../../core/text/shell-words.ts";
import { describeLeft } from "../../../budget/format-budgets.ts";
import { formatCost, formatShare } from "../../../prices/format-cost.ts";
import { displayPath, formatNumber, pluralize } from "../../../terminal/format.ts";
import { MOST_CHARACTERS, wrapWords } from "../../../terminal/wrap.ts";
import { failedOf, formatTokens } from "../../usage/columns.ts";
import { describeUnpriced, describeUnreadable } from "../../usage/sentences.ts";
import { toAmount } from "./dollars.ts";
import type { Digest, DigestRow } from "./read-digest.ts";

/** A digest is read at a glance; `usage` and `--json` have all. */
const MOST_ROWS = 4;
const MOST_FINDINGS = 4;
const MOST_BUDGETS = 2;

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Renders a digest as plain text for a width of so many characters; nothing is wrapped where it is infinite, as in a pipe. */
export function renderDigest(digest: Digest, width: number): string {
  return linesOf(digest)
    .flatMap((text) => text.split("\n"))
    .map((line) => wrapLine(line, Math.min(width, width === Infinity ? Infinity : MOST_CHARACTERS)))
    .join("\n");
}

function linesOf(digest: Digest): string[] {
  const { period, calendar, report, rows, outOfLine } = digest;
  const when = `${describePeriod(digest)} (${calendar.zone})`;
  if (rows.length === 0) return [`tollkeeper: no usage is recorded for ${when}.`];
  const projects = new Projects(rows.map(({ names }) => names[1] ?? null));
  const { first } = report.skipped;
  const notes = [
    describeUnpriced(report.total.cost),
    first === null ? null : describeUnreadable(report.skipped.count, first),
  ];
  return [
    `tollkeeper: ${when}`,
    describeTotal(digest),
    ...describeRows(digest, projects),
    ...describeBudgets(digest),
    ...describeFailures(report.total),
    ...describeFindings(outOfLine, projects, period.title),
    ...notes.filter((one) => one !== null),
  ];
}

/** What is indented is a command, and stays whole. What follows a dash goes on below its text. */
function wrapLine(line: string, width: number): string {
  if (width === Infinity || line.startsWith(" ")) return line;
  if (!line.startsWith("- ")) return wrapWords(line, width);
  return `- ${wrapWords(line.slice(2), width - 2).replaceAll("\n", "\n  ")}`;
}

function describePeriod({ span, period, calendar }: Digest): string {
  if (span === "week") return `the week ${period.title}`;
  const day = calendar.dayOf(period.since);
  return `${WEEKDAYS[new Date(day).getUTCDay()] ?? ""} ${day}`;
}

function describeTotal({ span, report, usual }: Digest): string {
  const { sums, cost } = report.total;
  const tokens = isFree(cost) ? "" : ` with ${formatTokens(sumTokens(sums), sums)} tokens`;
  const used = `Used: ${describeSpent(report.total)} in ${pluralize(sums.requests, "request")}${tokens}.`;
  if (usual === null) return used;
  const known = `${pluralize(usual.spans, span)} with use`;
  return `${used} A usual ${span}: ${describeUsual(usual, report.total)} in ${pluralize(Math.round(usual.requests), "request")} (median of ${known}).`;
}

function isFree({ amount, isExact, worth }: SpendingCost): boolean {
  return amount === 0n && isExact && worth === null;
}

/** Names what was charged and what a plan paid. Where neither is anything, the tokens. */
function describeSpent({ sums, cost }: ReportRow): string {
  const { amount, isExact, worth } = cost;
  if (sums.requests === 0) return "nothing";
  if (isFree(cost)) return `${formatTokens(sumTokens(sums), sums)} tokens, free,`;
  const parts = [
    (amount > 0n || !isExact) && formatCost(cost, formatDollars(amount)),
    worth !== null && `${worth.isExact ? "" : "≥"}${formatDollars(worth.amount)} worth of a plan`,
  ];
  return parts.filter((one) => one !== false).join(" and ");
}

/** In dollars where anything is charged. */
function describeUsual({ charged, tokens }: UsualSpending, { cost }: ReportRow): string {
  return charged > 0 && (cost.amount > 0n || cost.worth === null)
    ? formatDollars(toAmount(Number(charged.toPrecision(3))))
    : `${formatRounded(tokens)} tokens`;
}

function describeRows({ span, rows }: Digest, projects: Projects): string[] {
  const lines = rows.slice(0, MOST_ROWS).map((row: DigestRow) => {
    const { names, sums, usual } = row;
    const what = `${describeSpent(row)} in ${pluralize(sums.requests, "request")}`;
    const compared = usual === null ? "" : `; a usual ${span}: ${describeUsual(usual, row)}`;
    return `- ${projects.describe(names[0] ?? "", names[1] ?? null)}: ${what}${compared}`;
  });
  const others = rows.length - lines.length;
  return others === 0
    ? lines
    : [...lines, `- and ${formatNumber(others)} more: tollkeeper usage --by tool,project`];
}

function describeBudgets({ budgets }: Digest): string[] {
  if (budgets === null) return ["Budgets: not known, because tollkeeper is not running."];
  const shown = budgets.slice(0, MOST_BUDGETS).map((budget) => describeLeft(budget));
  return shown.length === 0 ? [] : [`Budgets: ${shown.join("; ")}.`];
}

function describeFailures({ sums }: ReportRow): string[] {
  const parts = [
    [failedOf(sums), "failed"],
    [sums.refused, "refused by tollkeeper"],
    [sums.cut, "cut short"],
  ] as const;
  const some = parts.filter(([count]) => count > 0).map(([count, what]) => `${formatNumber(count)} ${what}`);
  return some.length === 0 ? [] : [`Failures: ${some.join(", ")}.`];
}

function describeFindings(findings: readonly Finding[], projects: Projects, title: string): string[] {
  if (findings.length === 0) return ["Nothing is out of line."];
  const shown = findings.slice(0, MOST_FINDINGS);
  const lines = shown.map((finding) => `- ${describeFinding(finding, projects, finding.day !== title)}`);
  const others = findings.length - shown.length;
  const session = shown.find((finding) => finding.session !== null)?.session;
  return [
    "Out of line:",
    ...lines,
    ...(others === 0 ? [] : [`- and ${formatNumber(others)} more: tollkeeper digest --json`]),
    ...(typeof session === "string"
      ? [`To see its agents: ${formatCommand(["tollkeeper", "usage", "session", toPrintable(session)])}`]
      : []),
  ];
}

const NAMES: Readonly<Record<Kind, string>> = {
  session: "session",
  agent: "agent",
  request: "request",
  hour: "hour",
};

/** Says in one line what is out of line, and what explains it. */
function describeFinding(finding: Finding, projects: Projects, hasDay: boolean): string {
  const { kind, tool, project, day, hour, measure, amount, usual, times, mostly } = finding;
  const at = hour === null ? "" : ` at ${hour.slice("YYYY-MM-DD ".length)}`;
  const place = projects.describe(tool, project);
  const of = usual.of === "project" ? place : `${toPrintable(tool)} in all projects`;
  const where = usual.of === "project" ? "" : ` for ${place}`;
  const what = measure === "requests" ? "the requests of the usual hour" : `the usual ${NAMES[kind]}`;
  const why = mostly === null ? "" : `; ${formatShare(mostly.share, 1)} of it in one ${NAMES[mostly.kind]}`;
  const factor = formatNumber(times < 10 ? Number(times.toPrecision(2)) : Math.round(times));
  return `${formatAmount(amount, measure)}${hasDay ? ` on ${day}` : ""}${at}${where}: ${factor} times ${what} of ${of}${why}`;
}

function formatAmount(amount: number, measure: Measure): string {
  if (measure === "usd") return formatDollars(toAmount(amount));
  return measure === "tokens" ? `${formatRounded(amount)} tokens` : pluralize(Math.round(amount), "request");
}

/** To three significant digits. */
function formatRounded(value: number): string {
  return formatNumber(Number(value.toPrecision(3)));
}

/** Names projects by their directories' last names, where these tell them apart. */
class Projects {
  readonly #paths: ReadonlySet<string>;

  constructor(paths: readonly (string | null)[]) {
    this.#paths = new Set(paths.filter((path) => path !== null));
  }

  /** Returns e.g. `codex in shop`, or `codex` where no project is recorded. */
  describe(tool: string, path: string | null): string {
    if (path === null) return toPrintable(tool);
    const isAlone = [...this.#paths].every((other) => other === path || basename(other) !== basename(path));
    return `${toPrintable(tool)} in ${toPrintable(isAlone ? basename(path) : displayPath(path, homeDirectory()))}`;
  }
}
