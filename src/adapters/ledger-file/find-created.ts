import { createdIn, type Creator } from "../../core/decide/creator.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { parseRecord } from "../../core/ledger/parse-record.ts";
import { findDays, readBlocks } from "./reader.ts";

const NEWLINE = 0x0a;

/** Where a record has the id of a stored object. */
const MEMBERS = ["response_id", "output_file"] as const satisfies readonly (keyof UsageRecord)[];

/**
 * Returns who created the stored object of an id, by the records of a day and of those after it, the newest first; null when none says
 * so. Searches the bytes: only a line that has the id is parsed. Rejects when a day cannot be read.
 */
export async function findCreated(directory: string, id: string, from: string): Promise<Creator | null> {
  for (const day of findDays(directory, { from }).toReversed()) {
    let found: Creator | null = null;
    for await (const { bytes } of readBlocks(directory, day))
      if (bytes !== null) found = findIn(bytes, id) ?? found;
    if (found !== null) return found;
  }
  return null;
}

function findIn(bytes: Buffer, id: string): Creator | null {
  for (const name of MEMBERS) {
    const member = `"${name}":"${id}"`;
    for (let at = bytes.indexOf(member); at !== -1; at = bytes.indexOf(member, at + 1)) {
      const start = bytes.lastIndexOf(NEWLINE, at) + 1;
      const end = bytes.indexOf(NEWLINE, at);
      const record = parseRecord(bytes.toString("utf8", start, end === -1 ? undefined : end));
      const created = typeof record === "string" ? null : createdIn(record);
      if (created?.id === id) return created.creator;
    }
  }
  return null;
}
