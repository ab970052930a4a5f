import { findDays, readLedger } from "../../../adapters/ledger-file.ts";
import { recordsOfPeriod } from "../../ledger/records-of-period.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";

type IsWanted = (record: UsageRecord) => boolean;

// Lines that are not records are left to `tollkeeper ledger verify`.

/** Returns the last records of a ledger that are wanted, at most so many, in its order. Days are read whole, newest first. */
export async function readLastRecords(
  directory: string,
  count: number,
  isWanted: IsWanted,
): Promise<UsageRecord[]> {
  let last: UsageRecord[] = [];
  for (const day of (await findDays(directory, { from: "" })).toReversed()) {
    if (last.length >= count) break;
    const ofDay: UsageRecord[] = [];
    for await (const entry of readLedger(directory, { from: day, to: day })) {
      if ("unreadable" in entry || !isWanted(entry)) continue;
      ofDay.push(entry);
      if (ofDay.length > 2 * count) ofDay.splice(0, count);
    }
    last = [...ofDay, ...last].slice(-count);
  }
  return last;
}

/** Yields the wanted records of requests that arrived in a period, in the ledger's order. */
export async function* recordsIn(
  directory: string,
  period: Pick<Period, "since" | "until">,
  isWanted: IsWanted,
): AsyncGenerator<UsageRecord> {
  for await (const record of recordsOfPeriod(directory, period, { count: 0, first: null }))
    if (isWanted(record)) yield record;
}
