import type { PricedRecord } from "../feed-types.ts";
import { nameClass } from "../record/class-words.ts";

/** A request among those of its session. */
export interface SessionRequest {
  /** Its place among all requests of the session: 1 is the first. */
  number: number;
  record: PricedRecord;
  /** Dollars, this request included; null while no cost was known. */
  costSoFar: number | null;
  /** False if a part of it is not known, so that it is at least this. */
  isExactSoFar: boolean;
}

/** What the requests cost by what was charged, such as `from cache`, the most first. */
export function costsByClass(records: readonly PricedRecord[]): { name: string; dollars: number }[] {
  const costs = new Map<string, number>();
  for (const { cost } of records)
    for (const line of cost.lines) {
      const name = nameClass(line.class);
      costs.set(name, (costs.get(name) ?? 0) + Number(line.amount_usd));
    }
  return [...costs]
    .map(([name, dollars]) => ({ name, dollars }))
    .toSorted((one, other) => other.dollars - one.dollars);
}

/**
 * Returns the requests of a session, the oldest first, with what they have cost so far.
 * @param before how many requests of the session came before these
 */
export function followSession(records: readonly PricedRecord[], before = 0): SessionRequest[] {
  let costSoFar: number | null = null;
  let isExactSoFar = true;
  return records.map((record, at) => {
    const { amount_usd: amount, is_complete: isComplete, is_lower_bound: isBound } = record.cost;
    if (amount !== null) costSoFar = (costSoFar ?? 0) + Number(amount);
    isExactSoFar &&= amount !== null && isComplete && !isBound;
    return { number: before + at + 1, record, costSoFar, isExactSoFar };
  });
}
