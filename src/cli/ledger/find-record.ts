import { findDays, readLedger } from "../../adapters/ledger-file.ts";
import { Failure } from "../../core/failure.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";

/** Returns the record with this id; the newest days are read first. @throws Failure if there is none */
export async function findRecord(directory: string, id: string): Promise<UsageRecord> {
  for (const day of findDays(directory, { from: "" }).toReversed()) {
    for await (const entry of readLedger(directory, { from: day, to: day }))
      if (!("unreadable" in entry) && entry.id === id) return entry;
  }
  throw new Failure(
    "the ledger has no record with this id",
    "to see the ids of new records, type: tollkeeper tail --json",
  );
}
