import * as fs from "node:fs";
import { join } from "node:path";
import { hasCode } from "../../core/failure.ts";
import { dayFileName, parseLedgerFileName } from "../../core/ledger/day.ts";
import type { ImportedRecord, Source } from "../../core/ledger/import/imported-record.ts";
import { parseImported } from "../../core/ledger/import/parse-imported.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { namesIn } from "./open-day.ts";
import { ensurePrivateDirectory } from "./private-file.ts";
import { replaceFile } from "../../replace-file.ts";

/** The directory next to the daily files, with a directory for each tool whose logs were imported. */
const IMPORTED_DIRECTORY = "imported";

/** Returns where the days of a source are, one file for each UTC day. */
export function importedDirectory(ledger: string, source: Source): string {
  return join(ledger, IMPORTED_DIRECTORY, source);
}

/** Returns the records of a day that were imported before; none when there is no such file. */
export function readImportedDay(ledger: string, source: Source, day: string): ImportedRecord[] {
  try {
    const text = fs.readFileSync(join(importedDirectory(ledger, source), dayFileName(day)), "utf8");
    return text.split("\n").flatMap((line) => parseImported(line) ?? []);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** Returns the day under which each record of a source was imported before, by their ids. */
export function readImportedIds(ledger: string, source: Source): Map<string, string> {
  const days = new Map<string, string>();
  for (const name of namesIn(importedDirectory(ledger, source))) {
    const day = parseLedgerFileName(name)?.day;
    if (day === undefined) continue;
    for (const { id } of readImportedDay(ledger, source, day)) days.set(id, day);
  }
  return days;
}

/** Replaces the file of a day at once, so that a reader sees all of it or none. Throws a Failure when the directory is unsafe. */
export function writeImportedDay(
  ledger: string,
  source: Source,
  day: string,
  records: readonly ImportedRecord[],
): void {
  const directory = importedDirectory(ledger, source);
  for (const each of [ledger, join(ledger, IMPORTED_DIRECTORY), directory]) ensurePrivateDirectory(each);
  const lines = records.map((record) => `${toPrintable(JSON.stringify(record))}\n`);
  replaceFile(join(directory, dayFileName(day)), lines.join(""));
}
