import { findByBeginning, findById } from "../../adapters/ledger-file.ts";
import { Failure } from "../../core/failure.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { LAST } from "../last-id.ts";
import { AmbiguousId } from "./ambiguous-id.ts";
import { readLastRecords } from "./last-records.ts";

/** A shorter beginning of an id is no id. */
const LEAST_BEGINNING = 4;

/** So many records that begin alike are found. */
const MOST_ALIKE = 6;

/**
 * Returns the record with this id, or with this id of the upstream's for its request; the newest days are searched first. The beginning of
 * an id is enough where no other record has it. For `last` it is the newest record.
 * @throws Failure if there is none, and if several begin like this
 */
export async function findRecord(directory: string, id: string): Promise<UsageRecord> {
  if (id === LAST) return findNewest(directory);
  const record = await findById(directory, id);
  if (record !== null) return record;
  const alike = id.length < LEAST_BEGINNING ? [] : await findByBeginning(directory, id, MOST_ALIKE);
  const [only, ...others] = alike;
  if (others.length > 0)
    throw new AmbiguousId(
      "records",
      id,
      alike.map((one) => one.id),
    );
  if (only !== undefined) return only;
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
