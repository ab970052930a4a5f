import * as fs from "node:fs";
import { join } from "node:path";
import { oldestKeptDay, parseLedgerFileName } from "../../core/ledger/day.ts";
import type { Log } from "../../ports.ts";
import { DayFile } from "./day-file.ts";

/** Moves the truncated last line of every day's file away. Throws what {@link DayFile.open} throws. */
export function repairDayFiles(directory: string, log: Log): void {
  for (const name of fs.readdirSync(directory)) {
    const file = parseLedgerFileName(name);
    if (file !== null && !file.isTorn) DayFile.open(directory, file.day, log).close();
  }
}

/**
 * Deletes the files of days more than `retainDays` days before `now`, milliseconds since 1970, as far as `oldestKeptDay`
 * trusts it. Leaves files that are not the ledger's.
 */
export function deleteExpiredDays(directory: string, retainDays: number, now: number, log: Log): void {
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
