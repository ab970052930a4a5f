import { findDays, readLastOfDay } from "../../adapters/ledger-file.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";

/** Returns the last records of a ledger that are wanted, at most so many, in its order. Days are read newest first. Lines that are not records are left to `tollkeeper ledger verify`. */
export async function readLastRecords(
  directory: string,
  count: number,
  isWanted: (record: UsageRecord) => boolean = () => true,
): Promise<UsageRecord[]> {
  let last: UsageRecord[] = [];
  for (const day of findDays(directory, { from: "" }).toReversed()) {
    if (last.length >= count) break;
    const ofDay = await readLastOfDay(directory, day, count - last.length, isWanted);
    last = [...ofDay, ...last];
  }
  return last;
}
