import { homedir } from "node:os";
import type { UnreadableLine } from "../../adapters/ledger-file.ts";
import { sumLedger } from "../sums/sum-ledger.ts";
import type { Config } from "../../core/config/config.ts";
import type { Calendar } from "../../core/ledger/calendar.ts";
import { GROUPINGS, type Grouping } from "../../core/ledger/grouping.ts";
import type { RecordFilter } from "../../core/ledger/record-filter.ts";
import { ReportBuilder, sumOptionsOf } from "../../core/ledger/report.ts";
import type { Period } from "../../core/ledger/period.ts";
import type { Command } from "../command.ts";
import { periodOptions, readCalendar, readPeriod, type PeriodArguments } from "../ledger/period-options.ts";
import { loadConfig } from "../load-config.ts";
import { hasColours, print, printJson, printStyled } from "../terminal/console.ts";
import { noteProse } from "../terminal/prose.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { loadPrices, remarkOnAge } from "../prices/load-prices.ts";
import { showCommits } from "./usage/commits.ts";
import { renderCsv } from "./usage/csv.ts";
import { toDocument } from "./usage/document.ts";
import { remarksOn, renderOneLine, renderReport, type LedgerReport } from "./usage/report.ts";
import { reportSchema } from "./usage/schema.ts";
import { describeCoverage } from "./usage/sentences.ts";

interface UsageArguments extends PeriodArguments {
  config?: string | undefined;
  by?: Grouping[] | undefined;
  json?: boolean | undefined;
  csv?: boolean | undefined;
  wide?: boolean | undefined;
  oneline?: boolean | undefined;
  schema?: boolean | undefined;
  commits?: boolean | undefined;
}

/** A table with more groupings is too long to read. */
const MOST_GROUPINGS = 2;
const USUAL_GROUPING: Grouping[] = ["tool"];
const TOO_MANY = '"--by" takes one or two different groupings, as in: --by tool,day';

/** `tollkeeper usage`: sums up the ledger. Reads its files, so it works without a running daemon. */
export const command: Command<UsageArguments> = {
  builder: (yargs) =>
    periodOptions(yargs)
      .option("config", { type: "string" })
      .option("by", {
        array: true,
        choices: GROUPINGS,
        describe: "What each row represents: one or two of these, as in tool,day (usually: tool)",
        coerce: (given: Grouping[]) => given.flatMap((one) => one.split(",")) as Grouping[],
      })
      .option("wide", {
        type: "boolean",
        describe: "Show all columns: classes of tokens, what the cache saved, times and speeds",
      })
      .option("commits", {
        type: "boolean",
        describe: "Show what was spent for each commit of this branch of this repository",
      })
      .option("json", { type: "boolean", describe: "Print JSON" })
      .option("schema", { type: "boolean", describe: "Print the JSON Schema of what --json prints" })
      .option("csv", { type: "boolean", describe: "Print CSV" })
      .option("oneline", { type: "boolean", describe: "Print the total in one line" })
      // Needs options without defaults, because a default counts as given.
      .conflicts("json", ["csv", "oneline", "wide"])
      .conflicts("csv", ["oneline", "wide"])
      .conflicts("oneline", "wide")
      .conflicts("commits", ["by", "oneline", "schema"])
      .check(({ by = USUAL_GROUPING }) =>
        new Set(by).size === by.length && by.length <= MOST_GROUPINGS ? true : TOO_MANY,
      ),
  handler: async (given) => {
    const { config, by = USUAL_GROUPING, json, csv, wide, oneline, schema } = given;
    if (schema === true) return print(JSON.stringify(reportSchema(), null, 2));
    const calendar = readCalendar(given);
    const period = readPeriod(given, calendar);
    const loaded = await loadConfig(config);
    if (given.commits === true) {
      const form = json === true ? "json" : csv === true ? "csv" : "table";
      return showCommits(loaded, { period, calendar, filter: filterOf(given), form, isWide: wide === true });
    }
    const report = await readUsage(loaded, {
      by,
      period,
      calendar,
      filter: filterOf(given),
    });
    if (json === true) printJson(toDocument(report));
    else if (csv === true) showCsv(report);
    else if (oneline === true) print(renderOneLine(report));
    else showTable(report, wide === true);
  },
};

function filterOf({ tool, model, project, session, upstream }: UsageArguments): RecordFilter {
  return { tool, model, project, session, upstream };
}

/** What a report is to show. */
interface Question {
  by: Grouping[];
  period: Period;
  calendar: Calendar;
  filter: RecordFilter;
}

async function readUsage(config: Config, { by, period, calendar, filter }: Question): Promise<LedgerReport> {
  const directory = ledgerDirectory(config);
  const prices = await loadPrices(config);
  const { since, until } = period;
  const { prices: ownPrices, upstreams } = config;
  const question = {
    directory,
    since,
    until,
    by,
    zone: calendar.zone,
    filter,
    config: { prices: ownPrices, upstreams },
  };
  const asked = { by, calendar, filter, prices };
  const builder = new ReportBuilder(asked);
  const unreadable: UnreadableLine[] = [];
  const bar = new ProgressBar("reading the ledger");
  try {
    for await (const day of sumLedger(question, sumOptionsOf(asked), (share) => bar.update(share))) {
      builder.add(day.sums);
      unreadable.push(...day.unreadable);
    }
  } finally {
    bar.end();
  }
  return {
    ...builder.finish(),
    period,
    calendar,
    prices,
    directory,
    isProjectRecorded: config.ledger.project,
    unreadableLines: unreadable.length,
    firstUnreadable: unreadable[0] ?? null,
  };
}

function showTable(report: LedgerReport, isWide: boolean): void {
  const { rows, sandbox } = report;
  if (rows.length === 0 && sandbox.rows.length === 0) return showNothing(report);
  const isTerminal = process.stdout.isTTY;
  const width = process.stdout.columns || Infinity;
  const view = { width, isTerminal, isColoured: hasColours(), isWide, home: homedir() };
  const age = report.total.cost.amount > 0n ? remarkOnAge(report.prices.table, Date.now()) : null;
  printStyled(renderReport(report, view, [...remarksOn(report), ...(age === null ? [] : [age])]));
}

function showNothing(report: LedgerReport): void {
  const { period, calendar, directory } = report;
  noteProse([
    ...remarksOn(report),
    `No usage is recorded for ${period.title} (${calendar.zone}) in ${directory}.`,
    "To see which tools are connected, type:\n  tollkeeper connect --list",
  ]);
}

/** Prints rows only, for spreadsheets; remarks go to standard error. */
function showCsv(report: LedgerReport): void {
  // RFC 4180 section 2.1: lines end in CRLF.
  for (const line of renderCsv(report)) printStyled(`${line}\r`);
  const { sums } = report.total;
  const coverage = sums.partial + sums.absent > 0 ? [describeCoverage(report.total)] : [];
  const remarks = [...coverage, ...remarksOn(report)];
  if (remarks.length > 0) noteProse(remarks);
}
