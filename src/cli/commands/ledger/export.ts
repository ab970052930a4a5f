import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { CopyDetector } from "../../../core/ledger/copies.ts";
import { CSV_HEADER, csvCells } from "../../../core/ledger/export/csv-columns.ts";
import { isWanted } from "../../../core/ledger/record-filter.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import type { Argv } from "../../command-line.ts";
import {
  filterOf,
  periodOptions,
  readCalendar,
  readPeriod,
  type PeriodArguments,
} from "../../ledger/period-options.ts";
import { nameLastSession } from "../../ledger/last-session.ts";
import { noteDeletedDays } from "../../ledger/note-deleted-days.ts";
import { daysOf, recordsOfPeriod, type SkippedLines } from "../../ledger/records-of-period.ts";
import { loadConfig } from "../../load-config.ts";
import { note } from "../../terminal/console.ts";
import { csvLine } from "../../../core/text/csv.ts";
import { pluralize } from "../../terminal/format.ts";

const FORMATS = ["ndjson", "csv"] as const;

interface ExportArguments extends PeriodArguments {
  config?: string | undefined;
  format: (typeof FORMATS)[number];
}

/** So many characters are written at once, because each write is a system call. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Adds the options of `ledger export`. */
export function exportOptions(yargs: Argv<object>): Argv<ExportArguments> {
  return periodOptions(yargs)
    .option("config", { type: "string" })
    .option("format", {
      choices: FORMATS,
      default: "ndjson" as const,
      describe: "JSON lines as in the ledger, or CSV for spreadsheets",
    });
}

/** `tollkeeper ledger export`: prints the records of a period as they are read, one a line. */
export async function exportRecords(given: ExportArguments): Promise<void> {
  const calendar = readCalendar(given);
  const period = readPeriod(given, calendar);
  const directory = ledgerDirectory(await loadConfig(given.config));
  const filter = await nameLastSession(filterOf(given), directory, period);
  const skipped: SkippedLines = { count: 0, first: null };
  const copies = new CopyDetector();
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    if (given.format === "csv") yield `${csvLine(CSV_HEADER)}\r\n`;
    for await (const record of recordsOfPeriod(directory, period, skipped)) {
      if (copies.isCopy(record) || !isWanted(filter, record, record)) continue;
      count += 1;
      yield toLine(record, given.format);
    }
  }
  await writeOut(lines());
  if (count === 0)
    note(`note: there are no such records of ${period.title} (${calendar.zone}) in ${directory}`);
  await noteDeletedDays(directory, daysOf(period), "they are not exported");
  if (skipped.first === null) return;
  const { file, line } = skipped.first;
  const left = `${pluralize(skipped.count, "unreadable line")} left out, the first of which is ${file}:${line}`;
  note(`note: ${left}; to see them all, type: tollkeeper ledger verify`);
}

/** Its end is that of RFC 4180, section 2.1, or of ndjson. */
function toLine(record: UsageRecord, format: ExportArguments["format"]): string {
  return format === "csv" ? `${csvLine(csvCells(record))}\r\n` : `${toPrintable(JSON.stringify(record))}\n`;
}

/** Writes to standard output no faster than it is read, and stops when its reader does. */
async function writeOut(lines: AsyncIterable<string>): Promise<void> {
  let outputError: unknown = null;
  process.stdout.once("error", (error) => (outputError = error));
  try {
    await pipeline(Readable.from(chunksOf(lines)), process.stdout, { end: false });
  } catch (error) {
    // An error of standard output is reported for all commands alike.
    if (error !== outputError) throw error;
  }
}

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}
