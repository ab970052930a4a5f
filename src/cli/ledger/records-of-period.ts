import { readLedger, type UnreadableLine } from "../../adapters/ledger-file.ts";
import { dayAt } from "../../core/ledger/day.ts";
import type { Period } from "../../core/ledger/period.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";

/** Lines of the ledger that are not records: how many were skipped, and the first of them. */
export interface SkippedLines {
  count: number;
  first: Pick<UnreadableLine, "file" | "line"> | null;
}

/** Returns the days of the ledger, in UTC, that a period reaches into. */
export function daysOf({ since, until }: Pick<Period, "since" | "until">): { from: string; to?: string } {
  return { from: dayAt(since), ...(until !== null && { to: dayAt(until - 1) }) };
}

/** Yields the records of a period in the ledger's order. Counts in `skipped` the lines of its days that are not records. */
export async function* recordsOfPeriod(
  directory: string,
  period: Pick<Period, "since" | "until">,
  skipped: SkippedLines = { count: 0, first: null },
): AsyncGenerator<UsageRecord> {
  const { since, until } = period;
  const firstTs = new Date(since).toISOString();
  const endTs = until === null ? null : new Date(until).toISOString();
  for await (const record of readLedger(directory, daysOf(period))) {
    if ("unreadable" in record) {
      skipped.count += 1;
      skipped.first ??= record;
    } else if (record.ts >= firstTs && (endTs === null || record.ts < endTs)) yield record;
  }
}
