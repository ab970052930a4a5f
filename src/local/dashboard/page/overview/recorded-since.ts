import type { Row, UsageReport } from "../feed-types.ts";
import { readFeed } from "../feeds.ts";
import { dayOf, TIME_ZONE } from "../times.ts";

/** Before every ledger. */
const EARLIEST = "2000-01-01";

/** It stays the same, so it is asked for once. */
let known: string | null = null;

/** Returns the first local day that has a record; null while none has. */
export async function recordedSince(signal: AbortSignal): Promise<string | null> {
  known ??= await readFirstDay(signal);
  return known;
}

/** Months are few, however old the ledger is. */
async function readFirstDay(signal: AbortSignal): Promise<string | null> {
  const read = async (by: string, since: string, until: string) => {
    const question = { by, since, until, timezone: TIME_ZONE };
    return firstIn((await readFeed<UsageReport>("usage", question, signal)).rows, by);
  };
  const month = await read("month", EARLIEST, dayOf(new Date()));
  if (month === null) return null;
  const [year = 0, number = 0] = month.split("-").map(Number);
  return read("day", `${month}-01`, dayOf(new Date(year, number, 0)));
}

function firstIn(rows: readonly Row[], grouping: string): string | null {
  const names = rows.map((row) => row[grouping]).filter((name) => typeof name === "string");
  return names.toSorted()[0] ?? null;
}

/** Whether recording began on one of the days of an earlier span, so that its sums say nothing of a whole one. */
export function isRecordedInPart(start: Date, since: string | null): boolean {
  return since !== null && since >= dayOf(start);
}
