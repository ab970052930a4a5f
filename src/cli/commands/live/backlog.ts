import { findDays, readLedger } from "../../../adapters/ledger-file.ts";
import { dayAt } from "../../../core/ledger/day.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";

type IsWanted = (record: UsageRecord) => boolean;

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
    for await (const record of recordsOf(directory, { from: day, to: day })) {
      if (!isWanted(record)) continue;
      ofDay.push(record);
      if (ofDay.length > 2 * count) ofDay.splice(0, count);
    }
    last = [...ofDay, ...last].slice(-count);
  }
  return last;
}

/** Yields the wanted records of requests that arrived at or after a time, in the ledger's order. Milliseconds since 1970. */
export async function* recordsSince(
  directory: string,
  since: number,
  isWanted: IsWanted,
): AsyncGenerator<UsageRecord> {
  const firstTs = new Date(since).toISOString();
  for await (const record of recordsOf(directory, { from: dayAt(since) }))
    if (record.ts >= firstTs && isWanted(record)) yield record;
}

/** What cannot be read is left to `tollkeeper ledger verify`. */
async function* recordsOf(
  directory: string,
  range: { from: string; to?: string },
): AsyncGenerator<UsageRecord> {
  for await (const entry of readLedger(directory, range)) if (!("unreadable" in entry)) yield entry;
}
