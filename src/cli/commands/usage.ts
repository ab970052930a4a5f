import { configFailure, readConfigFile } from "../../adapters/config-file.ts";
import { readLedger } from "../../adapters/ledger-file/reader.ts";
import type { Config } from "../../core/config/config.ts";
import { dayOf } from "../../core/ledger/day.ts";
import { SANDBOX_UPSTREAM, type UsageRecord } from "../../core/ledger/record.ts";
import { GROUPINGS, summarise, type Grouping } from "../../core/ledger/report.ts";
import { parseSince } from "../../core/ledger/since.ts";
import type { Command } from "../command.ts";
import { EXIT, note, print, printFailure, printStyled } from "../terminal/console.ts";
import { configPath, ledgerDirectory } from "../../adapters/paths.ts";
import { remarksOn, renderCsv, renderJson, renderTable, type UsageReport } from "./usage/report.ts";

interface UsageArguments {
  config?: string | undefined;
  by: Grouping;
  since: string;
  json?: boolean | undefined;
  csv?: boolean | undefined;
}

/** `tollkeeper usage`: sums of the ledger. Reads the files, so it works with and without a running daemon. */
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
      // Without defaults: a default counts as given here.
      .conflicts("json", "csv"),
  handler: async ({ config, by, since, json, csv }) => {
    const from = readSince(since);
    if (from === null) return;
    const report = await readUsage(await readConfig(config ?? configPath()), from, by);
    if (json === true) print(renderJson(report));
    else if (csv === true) showCsv(report);
    else showTable(report);
  },
};

/** null, and said so, for a value that cannot be read: wrong usage rather than a failure. */
function readSince(text: string): string | null {
  try {
    return parseSince(text, Date.now());
  } catch (error) {
    printFailure(error);
    process.exitCode = EXIT.usage;
    return null;
  }
}

async function readConfig(path: string): Promise<Config> {
  const reading = await readConfigFile(path);
  if (!reading.ok) throw configFailure(path, reading.problems);
  return reading.config;
}

async function readUsage(config: Config, since: string, by: Grouping): Promise<UsageReport> {
  const directory = ledgerDirectory(config);
  const aside: UsageReport["aside"] = { sandboxed: 0, unreadable: 0, firstUnreadable: null };
  const records = recordsSince(directory, since, aside);
  const isProjectAsked = config.ledger.project;
  return { ...(await summarise(records, by)), since, directory, isProjectAsked, aside };
}

async function* recordsSince(
  directory: string,
  since: string,
  aside: UsageReport["aside"],
): AsyncGenerator<UsageRecord> {
  for await (const record of readLedger(directory, { from: dayOf(since) })) {
    if ("unreadable" in record) {
      aside.unreadable += 1;
      aside.firstUnreadable ??= record;
    } else if (record.ts >= since) {
      if (record.upstream === SANDBOX_UPSTREAM && record.usage !== "none") aside.sandboxed += 1;
      yield record;
    }
  }
}

function showTable(report: UsageReport): void {
  if (report.rows.length > 0) {
    printStyled(renderTable(report, process.stdout.isTTY && !process.env["NO_COLOR"]));
  }
  for (const remark of remarksOn(report)) print(remark);
  if (report.rows.length === 0) sayNothingYet(report);
}

/** Spreadsheets get the rows and nothing else; what must be said beside them goes to standard error. */
function showCsv(report: UsageReport): void {
  // RFC 4180 section 2.1: lines end in CRLF.
  for (const line of renderCsv(report)) printStyled(`${line}\r`);
  for (const remark of remarksOn(report)) note(remark);
}

function sayNothingYet({ since, directory }: UsageReport): void {
  note(`nothing spent yet since ${dayOf(since)} (UTC) in ${directory}`);
  note("hint: run `tollkeeper serve`, then use a tool whose base URL is the address that it shows");
}
