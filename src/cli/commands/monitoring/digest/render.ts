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
import { MOST_CHARACTERS, wrapAdvice } from "../../../terminal/wrap.ts";
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
  const { calendar, report, rows } = digest;
  const when = `${describePeriod(digest)} (${calendar.zone})`;
  if (rows.length === 0) return [`tollkeeper: no usage is recorded for ${when}.`];
  const projects = projectsOf(digest);
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
    ...describeFindings(digest, projects),
    ...notes.filter((one) => one !== null),
  ];
}

/** A command that is indented or ends a line stays whole. What follows a dash goes on below its text. */
function wrapLine(line: string, width: number): string {
  if (width === Infinity || line.startsWith(" ")) return line;
  if (!line.startsWith("- ")) return wrapAdvice(line, width).join("\n");
  return `- ${wrapAdvice(line.slice(2), width - 2).join("\n  ")}`;
}

function describePeriod({ span, period, calendar }: Digest): string {
  if (span === "week") return `the week ${period.title}`;
  const day = calendar.dayOf(period.since);
  return `${WEEKDAYS[new Date(day).getUTCDay()] ?? ""} ${day}${period.until === null ? " so far" : ""}`;
}

function describeTotal({ span, report, usual }: Digest): string {
  const { sums, cost } = report.total;
  const tokens = isWithoutPrice(cost) ? "" : ` with ${formatTokens(sumTokens(sums), sums)} tokens`;
  const used = `Used: ${describeUse(report.total)}${tokens}.`;
  if (usual === null) return used;
  const known = `${pluralize(usual.spans, span)} with use`;
  return `${used} A usual ${span}: ${describeUsual(usual)} in ${pluralize(Math.round(usual.requests), "request")} (median of ${known}).`;
}

/** Says what was used, and in how many requests. Those that failed used nothing. */
function describeUse(row: ReportRow): string {
  const { requests } = row.sums;
  return requests === 0 ? "nothing" : `${describeSpent(row)} in ${pluralize(requests, "request")}`;
}

function isWithoutPrice({ amount, worth, ownWorth }: SpendingCost): boolean {
  return amount === 0n && worth === null && ownWorth === null;
}

/** Names what was charged, and what a plan and tools' own keys paid. Where none is anything, the tokens. */
function describeSpent({ sums, cost }: ReportRow): string {
  const { amount, isExact, worth, ownWorth } = cost;
  const price = formatCost(cost, isExact && amount === 0n ? "free" : formatDollars(amount));
  if (isWithoutPrice(cost)) return `${formatTokens(sumTokens(sums), sums)} tokens (${price})`;
  const parts = [
    (amount > 0n || !isExact) && price,
    worth !== null && `${worth.isExact ? "" : "≥"}${formatDollars(worth.amount)} worth of a plan`,
    ownWorth !== null &&
      `${ownWorth.isExact ? "" : "≥"}${formatDollars(ownWorth.amount)} of a tool's own key`,
  ];
  return parts.filter((one) => one !== false).join(" and ");
}

/** In dollars where anything is charged, or a plan pays. */
function describeUsual({ charged, worth, tokens }: UsualSpending): string {
  const parts = [charged > 0 && formatMedian(charged), worth > 0 && `${formatMedian(worth)} worth of a plan`];
  const known = parts.filter((one) => one !== false);
  return known.length > 0 ? known.join(" and ") : `${formatRounded(tokens)} tokens`;
}

function formatMedian(dollars: number): string {
  return formatDollars(toAmount(Number(dollars.toPrecision(3))));
}

function describeRows({ span, rows }: Digest, projects: Projects): string[] {
  const lines = rows.slice(0, MOST_ROWS).map((row: DigestRow) => {
    const { names, usual } = row;
    const compared = usual === null ? "" : `; a usual ${span}: ${describeUsual(usual)}`;
    return `- ${projects.describe(names[0] ?? "", names[1] ?? null)}: ${describeUse(row)}${compared}`;
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

function describeFindings({ outOfLine, usual, span }: Digest, projects: Projects): string[] {
  if (outOfLine.length === 0)
    return [
      usual === null
        ? "Too little is recorded before it to say what is out of line."
        : "No unusual session or request.",
    ];
  const shown = outOfLine.slice(0, MOST_FINDINGS);
  const lines = shown.map((finding) => `- ${describeFinding(finding, projects, span === "week")}`);
  const others = outOfLine.length - shown.length;
  return [
    "Out of line:",
    ...lines,
    ...(others === 0 ? [] : [`- and ${formatNumber(others)} more: tollkeeper digest --json`]),
    ...describeAgents(shown),
  ];
}

/** Says how to see what the agents of the first session used. */
function describeAgents(shown: readonly Finding[]): string[] {
  const found = shown.find(
    ({ kind, session }) => (kind === "session" || kind === "agent") && session !== null,
  );
  if (found === undefined) return [];
  const which =
    shown.filter(({ kind }) => kind === "session").length > 1 ? "the first session" : "the session";
  return [`To see the agents of ${which}: ${commandFor(found)}`];
}

/** Returns a sentence for each thing that is out of line, as the digest says it, and the command that shows more of it. */
export function explainFindings(digest: Digest): { text: string; command: string }[] {
  const projects = projectsOf(digest);
  return digest.outOfLine.map((finding) => ({
    text: describeFinding(finding, projects, digest.span === "week"),
    command: commandFor(finding),
  }));
}

/** Returns the command that shows more of something: the request, the session, or all sessions of the day. */
function commandFor({ session, request, day }: Finding): string {
  if (request !== null) return formatCommand(["tollkeeper", "explain", request]);
  if (session === null) return formatCommand(["tollkeeper", "usage", "--by", "session", "--since", day]);
  return formatCommand(["tollkeeper", "usage", "session", toPrintable(session), "--since", day]);
}

function projectsOf({ rows }: Digest): Projects {
  return new Projects(rows.map(({ names }) => names[1] ?? null));
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
  const others = usual.of === "project" ? "" : ` of ${toPrintable(tool)} in all projects`;
  const what = `${measure === "requests" ? "had" : measure === "usd" ? "cost" : "used"} ${formatAmount(amount, measure)}`;
  const why = mostly === null ? "" : `; ${formatShare(mostly.share, 1)} of it in one ${NAMES[mostly.kind]}`;
  const factor = formatNumber(times < 10 ? Number(times.toPrecision(2)) : Math.round(times));
  return `${place}: one ${NAMES[kind]}${hasDay ? ` on ${day}` : ""}${at} ${what}, ${factor} times the usual${others}${why}`;
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
