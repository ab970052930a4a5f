import * as fs from "node:fs";
import { parseLedgerFileName } from "../../core/ledger/day.ts";
import type { Log } from "../../ports.ts";
import { DayFile } from "./day-file.ts";

/** Ends the torn last line of every day's file. Throws what {@link DayFile.open} throws. */
export function repairDayFiles(directory: string, log: Log): void {
  for (const name of fs.readdirSync(directory)) {
    const file = parseLedgerFileName(name);
    if (file?.kind === "records") DayFile.open(directory, file.day, log).close();
  }
}
