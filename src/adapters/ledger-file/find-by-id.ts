import { parseRecord } from "../../core/ledger/parse-record.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { findDays, readBlocks } from "./reader.ts";

const NEWLINE = 0x0a;

/** What a record may be asked for by. */
const FIELDS = ["id", "upstream_request_id"] as const;

/**
 * Returns the record with this id, or with this id of the upstream's for its request; null when there is none. The newest days are searched
 * first. Searches the bytes: only a line that has the id is parsed. Rejects when a day cannot be read.
 */
export async function findById(directory: string, id: string): Promise<UsageRecord | null> {
  for (const day of findDays(directory, { from: "" }).toReversed())
    for await (const { bytes } of readBlocks(directory, day)) {
      const found = bytes === null ? null : findIn(bytes, id);
      if (found !== null) return found;
    }
  return null;
}

function findIn(bytes: Buffer, id: string): UsageRecord | null {
  // As it is within a line.
  const text = JSON.stringify(id);
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) {
    const start = bytes.lastIndexOf(NEWLINE, at) + 1;
    const end = bytes.indexOf(NEWLINE, at);
    const record = parseRecord(bytes.toString("utf8", start, end === -1 ? undefined : end));
    if (typeof record !== "string" && FIELDS.some((field) => record[field] === id)) return record;
  }
  return null;
}
