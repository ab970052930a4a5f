import type { UsageRecord } from "../../src/core/ledger/record.ts";

/** A request in the books of the clients. Its number is the session of its record. */
interface Booked {
  number: number;
  kind: string;
}

/**
 * Finds the record of each request, and returns what is wrong: what `judge` says of a request and its record, two records of one, records
 * of none, and ids that occur twice. `what` is the word for a request.
 */
export function matchRecords<Entry extends Booked>(
  what: string,
  entries: readonly Entry[],
  records: readonly UsageRecord[],
  judge: (entry: Entry, record: UsageRecord | undefined) => string | null,
): string[] {
  const faults: string[] = [];
  const bySession = new Map<string | null, UsageRecord[]>();
  for (const record of records)
    bySession.set(record.session, [...(bySession.get(record.session) ?? []), record]);
  for (const entry of entries) {
    const [record, another] = bySession.get(String(entry.number)) ?? [];
    bySession.delete(String(entry.number));
    const fault = another === undefined ? judge(entry, record) : "has two records";
    if (fault !== null) faults.push(`${what} ${entry.number} (${entry.kind}) ${fault}`);
  }
  for (const session of bySession.keys()) faults.push(`a record of ${session}, which was never sent`);
  if (new Set(records.map(({ id }) => id)).size !== records.length)
    faults.push("two records have the same id");
  return faults;
}
