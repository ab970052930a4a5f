import { unlink } from "node:fs/promises";
import { listLedgerFiles, readDayLines, type LedgerFile } from "../../../adapters/ledger-file.ts";
import { deleteMonthOf, keepSums, markDeleted } from "../../../adapters/ledger-file/closed-days.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { Failure, hasCode, messageOf } from "../../../core/failure.ts";
import { addDays, localCalendar, UTC_CALENDAR } from "../../../core/ledger/calendar.ts";
import { hasRecords, removableDays } from "../../../core/ledger/day.ts";
import type { Argv } from "../../command-line.ts";
import { readPeriod } from "../../ledger/period-options.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { confirm, isInteractive } from "../../terminal/confirm.ts";
import { print } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { fixOf } from "../../../adapters/system-fix.ts";
import { reasonOf } from "../../../core/system-error.ts";

interface PruneArguments {
  config?: string | undefined;
  before: string;
  sums: boolean;
  yes: boolean;
}

/** How every record begins. */
const RECORD_START = '{"v":';

/** Adds the options of `ledger prune`. */
export function pruneOptions(yargs: Argv<object>): Argv<PruneArguments> {
  return yargs
    .option("config", { type: "string" })
    .option("before", {
      type: "string",
      demandOption: true,
      describe:
        "The first day to keep, in UTC, as the files are: 2026-11-01, 2026-11, or 30d to keep 30 days",
    })
    .option("sums", {
      type: "boolean",
      default: false,
      describe: "Remove the daily sums, too, which reports need",
    })
    .option("yes", { alias: "y", type: "boolean", default: false, describe: "Remove them without asking" });
}

/** `tollkeeper ledger prune`: removes the files of days before one, after asking. A daemon may run meanwhile. */
export async function prune({ config: file, before, sums, yes }: PruneArguments): Promise<void> {
  const first = readDay(before);
  const config = await loadConfig(file);
  const directory = ledgerDirectory(config);
  const { files, kept } = await findFiles(directory, first, sums);
  for (const day of kept)
    print(`${day} is kept: it is today, or the newest day, which a daemon may have open.`);
  if (files.length === 0) return print(`There is nothing to remove before ${first} in ${directory}.`);
  const what = await describeFiles(directory, files);
  if (!yes && !isInteractive()) {
    throw new Failure(
      `nothing was removed: there is no terminal to ask on, and ${what} cannot be recovered`,
      `to remove them without being asked, type: tollkeeper ledger prune --before ${first} --yes`,
    );
  }
  if (!yes && !(await confirm(`Remove ${what} from ${directory}? They cannot be recovered.`)))
    return print("Nothing was changed.");
  if (!sums) await keepSumsOf(directory, files, (await loadPrices(config)).allLimits());
  const withRecords = daysWithRecords(files);
  for (const day of new Set(files.map((found) => found.day))) {
    for (const { path } of files.filter((found) => found.day === day)) await remove(path);
    // At once: what arrives later is not in the sums.
    if (sums) deleteMonthOf(directory, day);
    else if (withRecords.has(day)) markDeleted(directory, day);
  }
  print(`Removed ${what}.${sums ? "" : " Reports still have their daily sums."}`);
}

/** @throws WrongUsage for what is not a day, a month, a year or a number of days or weeks, today included */
function readDay(text: string): string {
  if (/^\d+[dw]$/.test(text)) {
    const { since } = readPeriod({ since: text }, UTC_CALENDAR);
    return UTC_CALENDAR.dayOf(since);
  }
  const [, year, month = "01", day = "01"] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? [];
  const first = `${year}-${month}-${day}`;
  // Date reads February 30 as March 2.
  if (year === undefined || Number.isNaN(Date.parse(first)) || addDays(first, 0) !== first)
    throw new WrongUsage(
      `cannot read --before ${JSON.stringify(text)}: it is not a date`,
      "use a day, a month or a number of days, such as 2026-11-01, 2026-11 or 30d",
    );
  return first;
}

/** Finds what to remove to have no day before `before`, and which such days are kept all the same. */
async function findFiles(
  directory: string,
  before: string,
  withSums: boolean,
): Promise<{ files: LedgerFile[]; kept: Set<string> }> {
  const all = await listLedgerFiles(directory);
  const files = all.filter(
    ({ isRegular, kind }) => isRegular && (withSums || (kind !== "kept" && kind !== "rollup")),
  );
  const days = files.map(({ day }) => day);
  const removable = removableDays(days, before, Date.now());
  return {
    files: files.filter(({ day }) => removable.has(day)),
    kept: new Set(days.filter((day) => day < before && !removable.has(day))),
  };
}

/** Says how many records and bytes the files have, and of which days. */
async function describeFiles(directory: string, files: readonly LedgerFile[]): Promise<string> {
  const days = [...new Set(files.map(({ day }) => day))];
  let records = 0;
  for (const day of daysWithRecords(files))
    for await (const { text } of readDayLines(directory, day))
      if (text?.startsWith(RECORD_START) === true) records += 1;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const range =
    days.length === 1 ? days[0] : `${pluralize(days.length, "day")}, ${days[0]} to ${days.at(-1)}`;
  return `${pluralize(records, "record")} (${pluralize(bytes, "byte")}) of ${range}`;
}

function daysWithRecords(files: readonly LedgerFile[]): ReadonlySet<string> {
  return new Set(files.filter(hasRecords).map(({ day }) => day));
}

/** Makes sure that the sums of days are on the disk before their records are removed. Throws a Failure where they cannot be. */
async function keepSumsOf(
  directory: string,
  files: readonly LedgerFile[],
  limits: readonly number[],
): Promise<void> {
  for (const day of daysWithRecords(files))
    try {
      await keepSums(directory, day, { calendar: localCalendar(), limits });
    } catch (cause) {
      throw new Failure(
        `nothing was removed: the sums of ${day} cannot be kept: ${messageOf(cause)}`,
        `${fixOf(cause) ?? "run the same command again"}; or remove the sums, too, with: --sums`,
        { cause },
      );
    }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (cause) {
    // The daemon may remove old days at the same time.
    if (hasCode(cause, "ENOENT")) return;
    throw new Failure(`cannot remove ${path}: ${reasonOf(cause)}`, fixOf(cause), { cause });
  }
}
