import type { PricedRecord } from "../feed-types.ts";

/** A request among those of its session. */
export interface SessionRequest {
  /** Its place among all requests of the session: 1 is the first. */
  number: number;
  record: PricedRecord;
  /** Dollars, this request included; null while no cost was known. */
  costSoFar: number | null;
  /** True if it read from the cache less than half of what an earlier one had left there. */
  hasMissed: boolean;
}

/** What the requests cost by what was charged, such as `cache read`, the most first. */
export function costsByClass(records: readonly PricedRecord[]): { name: string; dollars: number }[] {
  const costs = new Map<string, number>();
  for (const { cost } of records)
    for (const line of cost.lines) {
      const name = line.class.replaceAll("_", " ");
      costs.set(name, (costs.get(name) ?? 0) + Number(line.amount_usd));
    }
  return [...costs]
    .map(([name, dollars]) => ({ name, dollars }))
    .toSorted((one, other) => other.dollars - one.dollars);
}

/** Shorter prompts are not cached by any service. */
const LEAST_CACHED = 1_024;

/**
 * Returns the requests of a session, the oldest first, with what they have cost so far and whether the cache has helped.
 * @param before how many requests of the session came before these
 */
export function followSession(records: readonly PricedRecord[], before = 0): SessionRequest[] {
  let costSoFar: number | null = null;
  /** Each model has a cache of its own. */
  const cached = new Map<string, number>();
  return records.map((record, at) => {
    const number = before + at + 1;
    const { cost, tokens } = record;
    if (cost.amount_usd !== null) costSoFar = (costSoFar ?? 0) + Number(cost.amount_usd);
    const model = record.model ?? "";
    const stored = cached.get(model) ?? 0;
    if (tokens === null) return { number, record, costSoFar, hasMissed: false };
    const left = tokens.cache_read + tokens.cache_write;
    if (left > 0) cached.set(model, left);
    const hasMissed =
      stored >= LEAST_CACHED && tokens.input_total >= stored && tokens.cache_read < stored / 2;
    return { number, record, costSoFar, hasMissed };
  });
}
