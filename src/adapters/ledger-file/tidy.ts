import * as fs from "node:fs";
import { join } from "node:path";
import { oldestKeptDay, parseLedgerFileName } from "../../core/ledger/day.ts";
import type { Log } from "../../ports.ts";
import { DayFile } from "./day-file.ts";

/** Opens and closes every day's file, which sets torn last lines aside. Throws what {@link DayFile.open} throws. */
export function mendDays(directory: string, log: Log): void {
  for (const name of fs.readdirSync(directory)) {
    const file = parseLedgerFileName(name);
    if (file !== null && !file.isTorn) DayFile.open(directory, file.day, log).close();
  }
}

/**
 * Deletes the files of days that lie more than `retainDays` days before `now`, or before what is believed of it (see
 * `oldestKeptDay`); names that are not the ledger's stay.
 */
export function deleteOldDays(directory: string, retainDays: number, now: number, log: Log): void {
  const files = fs.readdirSync(directory).flatMap((name) => {
    const file = parseLedgerFileName(name);
    return file === null ? [] : { name, day: file.day };
  });
  const days = files.map(({ day }) => day);
  const oldest = oldestKeptDay(days, now, retainDays);
  for (const { name, day } of files) {
    if (day >= oldest) continue;
    fs.unlinkSync(join(directory, name));
    log.info({ file: name, retainDays }, "an old day of the ledger was deleted");
  }
}
