import { readLedger } from "../../adapters/ledger-file.ts";
import type { Config } from "../../core/config/config.ts";
import { dayOf } from "../../core/ledger/day.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { SANDBOX_UPSTREAM } from "../../core/config/names.ts";
import { GROUPINGS, summarise, type Grouping } from "../../core/ledger/report.ts";
import { parseSince } from "../../core/ledger/since.ts";
import type { Command } from "../command.ts";
import { loadConfig } from "../load-config.ts";
import { EXIT, hasColours, note, print, printFailure, printStyled } from "../terminal/console.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import { remarksOn, renderCsv, renderJson, renderTable, type LedgerReport } from "./usage/report.ts";

interface UsageArguments {
  config?: string | undefined;
  by: Grouping;
  since: string;
  json?: boolean | undefined;
  csv?: boolean | undefined;
}

/** `tollkeeper usage`: sums up the ledger. Reads its files, so it works without a running daemon. */
export const command: Command<UsageArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("by", { choices: GROUPINGS, default: "tool" as const, describe: "What a row stands for" })
      .option("since", {
        type: "string",
        default: "30d",
        describe: "today, 24h, 7d or a day like 2026-11-01 (UTC)",
      })
      .option("json", { type: "boolean", describe: "Print JSON" })
      .option("csv", { type: "boolean", describe: "Print CSV" })
      // Needs options without defaults, because a default counts as given.
      .conflicts("json", "csv"),
  handler: async ({ config, by, since, json, csv }) => {
    const from = readSince(since);
    if (from === null) return;
    const report = await readUsage(await loadConfig(config), from, by);
    if (json === true) print(renderJson(report));
    else if (csv === true) showCsv(report);
    else showTable(report);
  },
};

/** Returns null after printing an error when the value is not valid, which is wrong usage and not a failure. */
function readSince(text: string): string | null {
  try {
    return parseSince(text, Date.now());
  } catch (error) {
    printFailure(error);
    process.exitCode = EXIT.usage;
    return null;
  }
}

async function readUsage(config: Config, since: string, by: Grouping): Promise<LedgerReport> {
  const directory = ledgerDirectory(config);
  const counts: ReadCounts = { sandboxRequests: 0, unreadableLines: 0, firstUnreadable: null };
  const sums = await summarise(recordsSince(directory, since, counts), by);
  return { ...sums, since, directory, isProjectRecorded: config.ledger.project, ...counts };
}

type ReadCounts = Pick<LedgerReport, "sandboxRequests" | "unreadableLines" | "firstUnreadable">;

/** Yields the records since a time, and counts what else it reads. */
async function* recordsSince(
  directory: string,
  since: string,
  counts: ReadCounts,
): AsyncGenerator<UsageRecord> {
  for await (const record of readLedger(directory, { from: dayOf(since) })) {
    if ("unreadable" in record) {
      counts.unreadableLines += 1;
      counts.firstUnreadable ??= record;
    } else if (record.ts >= since) {
      if (record.upstream === SANDBOX_UPSTREAM && record.usage !== "none") counts.sandboxRequests += 1;
      yield record;
    }
  }
}

function showTable(report: LedgerReport): void {
  const { rows, since, directory } = report;
  if (rows.length > 0) printStyled(renderTable(report, hasColours()));
  for (const remark of remarksOn(report)) print(remark);
  if (rows.length > 0) return;
  note(`nothing spent yet since ${dayOf(since)} (UTC) in ${directory}`);
  note("hint: run `tollkeeper serve`, then use a tool whose base URL is the address that it shows");
}

/** Prints rows only, for spreadsheets; remarks go to standard error. */
function showCsv(report: LedgerReport): void {
  // RFC 4180 section 2.1: lines end in CRLF.
  for (const line of renderCsv(report)) printStyled(`${line}\r`);
  for (const remark of remarksOn(report)) note(remark);
}
