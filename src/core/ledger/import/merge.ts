import type { UsageRecord } from "../record.ts";
import { fuller, type ImportedRecord } from "./imported-record.ts";

/** What tells that tollkeeper recorded a response itself: its ids, or if the log has none, its session and its counts. */
type Recorded = Pick<UsageRecord, "response_id" | "upstream_request_id" | "session" | "tokens">;

/** Responses from logs, without those that tollkeeper recorded itself. */
export class Unrecorded {
  readonly #byName = new Map<string, ImportedRecord[]>();
  readonly #records: Set<ImportedRecord>;

  constructor(records: readonly ImportedRecord[]) {
    this.#records = new Set(records);
    for (const record of records) {
      const ids = idsOf(record);
      for (const name of ids.length > 0 ? ids : countsOf(record)) {
        const named = this.#byName.get(name);
        if (named === undefined) this.#byName.set(name, [record]);
        else named.push(record);
      }
    }
  }

  /** Removes the responses that a record of the ledger is about. */
  remove(recorded: Recorded): void {
    for (const name of [...idsOf(recorded), ...countsOf(recorded)])
      for (const record of this.#byName.get(name) ?? []) this.#records.delete(record);
  }

  /** Returns the others, in the order of their times. */
  all(): ImportedRecord[] {
    return [...this.#records].toSorted(compareTimes);
  }

  /** Returns the others by day, as `dayOfRecord` says it. */
  byDay(dayOfRecord: (record: ImportedRecord) => string): Map<string, ImportedRecord[]> {
    const days = new Map<string, ImportedRecord[]>();
    for (const record of this.#records) {
      const day = dayOfRecord(record);
      const records = days.get(day);
      if (records === undefined) days.set(day, [record]);
      else records.push(record);
    }
    return days;
  }
}

function idsOf({ response_id: response, upstream_request_id: request }: Recorded): string[] {
  return [
    ...(response === null ? [] : [`response ${response}`]),
    ...(request === null ? [] : [`request ${request}`]),
  ];
}

function countsOf({ session, tokens }: Recorded): string[] {
  if (session === null || tokens === null) return [];
  return [`counts ${session} ${tokens.input_total} ${tokens.cache_read} ${tokens.output}`];
}

/** The records of a day after another import, and how many of them are new. */
interface Merged {
  records: ImportedRecord[];
  added: number;
  hasChanged: boolean;
}

/** Adds responses to those of a day that were imported before, in the order of their times. Each is kept once, as its fullest. */
export function mergeDay(before: readonly ImportedRecord[], found: readonly ImportedRecord[]): Merged {
  const byId = new Map(before.map((record) => [record.id, record]));
  let hasChanged = false;
  let added = 0;
  for (const record of found) {
    const known = byId.get(record.id);
    const kept = known === undefined ? record : fuller(known, record);
    if (known === undefined) added += 1;
    if (kept !== known) hasChanged = true;
    byId.set(record.id, kept);
  }
  return { records: [...byId.values()].toSorted(compareTimes), added, hasChanged };
}

function compareTimes(one: ImportedRecord, other: ImportedRecord): number {
  if (one.ts === other.ts) return one.id < other.id ? -1 : 1;
  return one.ts < other.ts ? -1 : 1;
}
