import * as fs from "node:fs";
import { join } from "node:path";
import { dayAt, parseLedgerFileName } from "../../core/ledger-day.ts";
import type { Log } from "../../ports.ts";
import { DayFile } from "./day-file.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Opens and closes every day's file, which sets torn last lines aside. Throws what {@link DayFile.open} throws. */
export function mendDays(directory: string, log: Log): void {
  for (const name of fs.readdirSync(directory)) {
    const file = parseLedgerFileName(name);
    if (file !== null && !file.isTorn) DayFile.open(directory, file.day, log).close();
  }
}

/** Deletes the files of days that lie more than `retainDays` days before `now`; names that are not the ledger's stay. */
export function deleteOldDays(directory: string, retainDays: number, now: number, log: Log): void {
  const oldest = dayAt(now - retainDays * DAY_MS);
  for (const name of fs.readdirSync(directory)) {
    const file = parseLedgerFileName(name);
    if (file === null || file.day >= oldest) continue;
    fs.unlinkSync(join(directory, name));
    log.info({ file: name, retainDays }, "an old day of the ledger was deleted");
  }
}
