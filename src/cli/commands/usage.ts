import { ledgerDirectory } from "../../adapters/paths.ts";
import { Failure } from "../../core/failure.ts";
import type { Config } from "../../core/config/config.ts";
import { GROUPINGS, type Grouping } from "../../core/ledger/grouping.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { attempt } from "../attempt.ts";
import type { Command } from "../command.ts";
import { nameLastSession } from "../ledger/last-session.ts";
import {
  filterOf,
  periodOptions,
  readCalendar,
  readPeriod,
  DEFAULT_SINCE,
  zoneOf,
  type PeriodArguments,
} from "../ledger/period-options.ts";
import { loadConfig } from "../load-config.ts";
import { print, printJson, printStyled } from "../terminal/console.ts";
import { noteProse } from "../terminal/prose.ts";
import { OLD_DAYS, remarkOnAge } from "../prices/load-prices.ts";
import { renderCsv } from "./usage/csv.ts";
import { REPORT_FIELDS, toDocument } from "./usage/document.ts";
import { hasFootnotes } from "./usage/explain-total.ts";
import { remarksOn, renderOneLine, renderReport, reportSections, type LedgerReport } from "./usage/report.ts";
import { showWide, viewOf } from "./usage/sections.ts";
import { sessionOptions } from "./usage/session-options.ts";
import { readUsage } from "./usage/read-usage.ts";
import { describeCoverage } from "./usage/sentences.ts";

interface UsageArguments extends PeriodArguments {
  config?: string | undefined;
  by?: Grouping[] | undefined;
  json?: boolean | undefined;
  fields?: string[] | undefined;
  csv?: boolean | undefined;
  window?: string | undefined;
  wide?: boolean | undefined;
  all?: boolean | undefined;
  oneline?: boolean | undefined;
  schema?: boolean | undefined;
  commits?: boolean | undefined;
}

/** A table with more groupings is too long to read. Programs may have more. */
const MOST_GROUPINGS = 2;
const MOST_IN_JSON = 4;
const USUAL_GROUPING: Grouping[] = ["tool"];
const TOO_MANY = '"--by" takes one or two different groupings, as in: --by tool,day';
const TOO_MANY_IN_JSON = '"--by" takes at most four different groupings with --json';

/** `tollkeeper usage`: sums up the ledger. Reads its files, so it works without a running daemon. */
export const command: Command<UsageArguments> = {
  alone: { since: DEFAULT_SINCE },
  builder: (yargs) =>
    periodOptions(yargs)
      .command(
        "session <id>",
        "Show what a session used as a tree of its agents",
        sessionOptions,
        async (given) => (await import("./usage/session.ts")).showSession(given),
      )
      .option("config", { type: "string" })
      .option("by", {
        array: true,
        choices: GROUPINGS,
        describe: "What each row represents: one or two of these, as in tool,day (usually: tool)",
        coerce: (given: Grouping[]) => given.flatMap((one) => one.split(",")) as Grouping[],
      })
      .option("window", {
        type: "string",
        describe: "Make each row a window of the services' own limits, by its length, as in 5h or 7d",
      })
      .option("wide", {
        type: "boolean",
        describe: "Show all columns: classes of tokens, what the cache saved, times and speeds",
      })
      .option("all", { type: "boolean", describe: "With --by session, list each session on a terminal" })
      .option("commits", {
        type: "boolean",
        describe: "Show what was spent for each commit of this branch of this repository",
      })
      .option("json", { type: "boolean", describe: "Print JSON" })
      .option("fields", {
        array: true,
        choices: REPORT_FIELDS,
        describe: "With --json, what rows and totals have besides their names, as in requests,cost_usd",
        coerce: (given: string[]) => given.flatMap((one) => one.split(",")),
      })
      .option("schema", { type: "boolean", describe: "Print the JSON Schema of what --json prints" })
      .option("csv", { type: "boolean", describe: "Print CSV" })
      .option("oneline", { type: "boolean", describe: "Print the total in one line" })
      // Needs options without defaults, because a default counts as given.
      .conflicts("json", ["csv", "oneline", "wide"])
      .conflicts("csv", ["oneline", "wide"])
      .conflicts("oneline", "wide")
      .conflicts("commits", ["by", "window", "oneline", "schema", "fields"])
      .implies("fields", "json")
      .check(({ by = [], window, json }) => {
        const most = json === true ? MOST_IN_JSON : MOST_GROUPINGS;
        if (new Set(by).size === by.length && groupingsOf(by, window).length <= most) return true;
        return json === true ? TOO_MANY_IN_JSON : TOO_MANY;
      }),
  handler: async (given) => {
    const { config, window, json, fields, csv, wide, all, oneline, schema } = given;
    if (schema === true) {
      const { reportSchema } = await import("./usage/schema.ts");
      return print(JSON.stringify(reportSchema(), null, 2));
    }
    const calendar = readCalendar(given);
    const period = readPeriod(given, calendar);
    const loaded = await loadConfig(config);
    // A prompt or a status bar prints one line.
    if (oneline !== true) await (await import("../note-other-config.ts")).noteOtherConfig(config);
    const filter = await nameLastSession(filterOf(given), ledgerDirectory(loaded), period);
    if (given.commits === true) {
      const form = json === true ? "json" : csv === true ? "csv" : "table";
      const { showCommits } = await import("./usage/commits.ts");
      return showCommits(loaded, { period, calendar, filter, form, isWide: wide === true });
    }
    const windows =
      window === undefined
        ? undefined
        : (await import("./usage/read-windows.ts")).readWindows(window, loaded);
    const by = groupingsOf(given.by ?? [], window);
    const isText = json !== true && csv !== true && oneline !== true;
    // A person wants to know whose sessions they are. A program gets the sums by their ids.
    const areListed = isText && wide !== true && process.stdout.isTTY && by.join() === "session";
    const sessions = areListed ? await import("./usage/sessions.ts") : null;
    const read = await readUsage(loaded, {
      by: sessions === null ? by : [...sessions.SESSION_GROUPINGS],
      windows,
      period,
      calendar,
      zone: zoneOf(given),
      filter,
    });
    const report = sessions === null ? read : sessions.listSessions(read, all === true);
    if (windows?.length === 0)
      noteProse([(await import("./usage/read-windows.ts")).describeNoWindow(window ?? "")]);
    if (json === true) printJson(toDocument(report, fields));
    else if (oneline === true) print(renderOneLine(report));
    else if (csv === true) showCsv(report);
    else if (!isEmpty(report)) await showTable(report, loaded, wide === true);
    if (isEmpty(report) && json !== true && oneline !== true)
      await showNothing(report, loaded, zoneOf(given));
  },
};

/** The windows come first. A branch has the name of its project beside it, because many have a branch called `main`. */
function groupingsOf(by: readonly Grouping[], window: string | undefined): Grouping[] {
  if (window !== undefined) return ["window", ...by];
  if (by.length === 0) return USUAL_GROUPING;
  return by.length === 1 && by[0] === "branch" ? ["project", "branch"] : [...by];
}

async function showTable(report: LedgerReport, { plans }: Config, isWide: boolean): Promise<void> {
  const view = viewOf(isWide);
  const age =
    report.total.cost.amount > 0n ? remarkOnAge(report.prices.table, Date.now(), OLD_DAYS.usage) : null;
  const remarks = [
    ...remarksOn(report, hasFootnotes(view)),
    ...(age === null ? [] : [age]),
    // What is known of tools is loaded only where one may lose its plan.
    ...(plans.length === 0 ? [] : await remarksOnPlans()),
  ];
  if (isWide) return showWide(reportSections(report, view, remarks));
  printStyled(renderReport(report, view, remarks));
}

/** Says what takes the place of a plan's login at present, as `doctor` does. */
async function remarksOnPlans(): Promise<string[]> {
  const { findPlanDiversions } = await import("../connect/payers.ts");
  // Usage is shown also where what connect has kept cannot be read. doctor says so.
  const { value } = await attempt(Failure, findPlanDiversions);
  return (value ?? []).map(({ what, fix }) => `${what}.\n  -> ${fix}`);
}

function isEmpty({ rows, sandbox }: LedgerReport): boolean {
  return rows.length === 0 && sandbox.rows.length === 0;
}

async function showNothing(report: LedgerReport, config: Config, zone: string | null): Promise<void> {
  const { period, calendar, directory, filter } = report;
  const { explainNoMatch } = await import("./usage/no-match.ts");
  const noMatch = await explainNoMatch(report, (by, only) =>
    readUsage(config, { by, period, calendar, zone, filter: only }),
  );
  if (noMatch !== null) return noteProse([...remarksOn(report), ...noMatch]);
  const chosen = Object.entries(filter).filter(([, value]) => value !== undefined);
  const of = chosen.map(([field, value]) => ` of ${field} ${toPrintable(String(value))}`).join("");
  const { findSimilarTool } = await import("../known-tools.ts");
  const similar = filter.tool === undefined ? null : await findSimilarTool(filter.tool, config);
  noteProse([
    ...remarksOn(report),
    `No usage${of} is recorded for ${period.title} (${calendar.zone}) in ${directory}.`,
    similar === null
      ? "To see which tools are connected, type:\n  tollkeeper connect --list"
      : `Did you mean ${similar}? Then type:\n  tollkeeper usage --tool ${similar}`,
  ]);
}

/** Prints rows only, for spreadsheets; remarks go to standard error. */
function showCsv(report: LedgerReport): void {
  // RFC 4180 section 2.1: lines end in CRLF.
  for (const line of renderCsv(report)) printStyled(`${line}\r`);
  if (isEmpty(report)) return;
  const { sums } = report.total;
  const coverage = sums.partial + sums.absent > 0 ? [describeCoverage(report.total)] : [];
  const remarks = [...coverage, ...remarksOn(report)];
  if (remarks.length > 0) noteProse(remarks);
}
