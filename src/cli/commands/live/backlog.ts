import { recordsOfPeriod } from "../../ledger/records-of-period.ts";
import type { Period } from "../../../core/ledger/period.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";

type IsWanted = (record: UsageRecord) => boolean;

/** Yields the wanted records of requests that arrived in a period, in the ledger's order. */
export async function* recordsIn(
  directory: string,
  period: Pick<Period, "since" | "until">,
  isWanted: IsWanted,
): AsyncGenerator<UsageRecord> {
  for await (const record of recordsOfPeriod(directory, period, { count: 0, first: null }))
    if (isWanted(record)) yield record;
}
