import { findById } from "../../adapters/ledger-file.ts";
import { Failure } from "../../core/failure.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { LAST } from "../last-id.ts";
import { readLastRecords } from "./last-records.ts";

/**
 * Returns the record with this id, or with this id of the upstream's for its request; the newest days are searched first. For `last`
 * it is the newest record.
 * @throws Failure if there is none
 */
export async function findRecord(directory: string, id: string): Promise<UsageRecord> {
  if (id === LAST) return findNewest(directory);
  const record = await findById(directory, id);
  if (record !== null) return record;
  throw new Failure(
    "the ledger has no record with this id",
    "to see the ids of new records, type: tollkeeper tail --json; to explain the newest one, type: tollkeeper explain last",
  );
}

async function findNewest(directory: string): Promise<UsageRecord> {
  const [newest] = await readLastRecords(directory, 1);
  if (newest !== undefined) return newest;
  throw new Failure(
    "no request is recorded yet",
    "to see which tools are connected, type: tollkeeper connect --list",
  );
}
