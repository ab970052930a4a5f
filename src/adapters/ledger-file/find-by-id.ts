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

/**
 * Returns the records whose id, or the upstream's id for their request, begins like this; the newest first, `most` at most. Reads all days
 * unless it has found as many.
 */
export async function findByBeginning(
  directory: string,
  beginning: string,
  most: number,
): Promise<UsageRecord[]> {
  const found: UsageRecord[] = [];
  // As it is within a line, without the quotation mark that ends it.
  const text = JSON.stringify(beginning).slice(0, -1);
  for (const day of findDays(directory, { from: "" }).toReversed())
    for await (const { bytes } of readBlocks(directory, day)) {
      if (bytes === null) continue;
      for (const record of recordsWith(bytes, text))
        if (FIELDS.some((field) => record[field]?.startsWith(beginning))) found.push(record);
      if (found.length >= most) return found.slice(0, most);
    }
  return found;
}

function findIn(bytes: Buffer, id: string): UsageRecord | null {
  // As it is within a line.
  for (const record of recordsWith(bytes, JSON.stringify(id)))
    if (FIELDS.some((field) => record[field] === id)) return record;
  return null;
}

/** Yields the record of each line that has a text, once. */
function* recordsWith(bytes: Buffer, text: string): Generator<UsageRecord> {
  for (let at = bytes.indexOf(text); at !== -1;) {
    const start = bytes.lastIndexOf(NEWLINE, at) + 1;
    const end = bytes.indexOf(NEWLINE, at);
    const record = parseRecord(bytes.toString("utf8", start, end === -1 ? undefined : end));
    if (typeof record !== "string") yield record;
    if (end === -1) return;
    at = bytes.indexOf(text, end);
  }
}
