import type { UsageRecord } from "../../../../core/ledger/record.ts";
import type { Miss } from "../feed-types.ts";
import { describeEnd } from "./ending.ts";
import { describeMiss } from "./miss-words.ts";

/** A record, with why it missed the cache where that was asked for; null where it is not known to have missed it. */
type Noted = UsageRecord & { missed?: Miss | null };

/** What makes a request stand out, in few words. Both are empty for most. */
interface Note {
  /** How it ended, unless it completed. */
  end: string;
  /** That it missed the cache, and why. */
  miss: string;
}

/** Returns what a list says of a request. Who says why it missed the cache is in its record. */
export function noteParts(record: Noted): Note {
  const end = describeEnd(record);
  return { end: end === "completed" ? "" : end, miss: missOf(record) };
}

function missOf({ miss, missed }: Noted): string {
  if (missed === undefined) return miss === null ? "" : "missed the cache";
  return missed === null ? "" : `missed the cache: ${describeMiss(missed)}`;
}

/** The same as a text, such as `overloaded (529)`; empty where nothing stands out. */
export function noteOf(record: Noted): string {
  return Object.values(noteParts(record))
    .filter((part) => part !== "")
    .join("; ");
}
