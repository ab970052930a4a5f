import type { Calendar } from "../calendar.ts";
import type { Cost } from "../../price/cost.ts";
import type { Tokens } from "../../usage/reading.ts";
import type { CountedRequest } from "../spend.ts";
import { commonName } from "./model-names.ts";
import { addUsage, noUsage, type LedgerSums } from "./sums.ts";

/** Days of every time zone begin at a multiple of it. */
const QUARTER_MS = 15 * 60 * 1000;

/** What was used of a model at an upstream in a quarter of an hour. */
interface Quarter {
  start: number;
  upstream: string;
  model: string;
  sums: LedgerSums;
}

/** The usage of a ledger, fine enough to count its days in any time zone. */
export class LedgerUsage {
  readonly #quarters = new Map<string, Quarter>();
  /** The names that the ledger has for a model, by the common one. */
  readonly names = new Map<string, Set<string>>();

  /** Adds a request, with its cost if costs are compared. */
  add({ record, source }: CountedRequest, cost: Cost | null): void {
    const model = source.model ?? record.model ?? record.alias ?? record.model_requested ?? "unknown";
    const sums = this.#sumsOf(record.ts, record.upstream, model);
    sums.requests += 1;
    if (source.tokens === null) sums.absent += 1;
    else if (source.usage !== "final") sums.partial += 1;
    if (source.tokens !== null) addTokens(sums, source.tokens);
    if (cost?.kind === "priced") sums.cost += cost.amount;
    else if (cost !== null) sums.unpriced += 1;
    for (const set of source.extra)
      if (set.billable === true) addTokens(this.#sumsOf(record.ts, record.upstream, set.model ?? model), set);
  }

  /** Returns the upstreams that served one of these models, by their common names; null: any model. */
  upstreamsOf(models: ReadonlySet<string> | null): Set<string> {
    const quarters = [...this.#quarters.values()];
    const served = quarters.filter(({ model }) => models === null || models.has(model));
    return new Set(served.map(({ upstream }) => upstream));
  }

  /** Returns the sums at these upstreams, by `cellKey` of day and model. */
  byDay(
    calendar: Calendar,
    upstreams: ReadonlySet<string>,
    cellKey: (day: string, model: string) => string,
  ): Map<string, LedgerSums> {
    const cells = new Map<string, LedgerSums>();
    for (const { start, upstream, model, sums } of this.#quarters.values()) {
      if (!upstreams.has(upstream)) continue;
      const key = cellKey(calendar.dayOf(start), model);
      let cell = cells.get(key);
      if (cell === undefined) cells.set(key, (cell = noUsage()));
      addUsage(cell, sums);
    }
    return cells;
  }

  #sumsOf(ts: string, upstream: string, name: string): LedgerSums {
    const start = Math.floor(Date.parse(ts) / QUARTER_MS) * QUARTER_MS;
    const model = commonName(name);
    const names = this.names.get(model);
    if (names === undefined) this.names.set(model, new Set([name]));
    else names.add(name);
    const key = JSON.stringify([start, upstream, model]);
    let quarter = this.#quarters.get(key);
    if (quarter === undefined)
      this.#quarters.set(key, (quarter = { start, upstream, model, sums: noUsage() }));
    return quarter.sums;
  }
}

type Counts = Pick<Tokens, "input_uncached" | "cache_read" | "cache_write" | "output">;

function addTokens(sums: LedgerSums, set: Counts): void {
  sums.tokens.input += set.input_uncached + set.cache_read + set.cache_write;
  sums.tokens.cache_read += set.cache_read;
  sums.tokens.cache_write += set.cache_write;
  sums.tokens.output += set.output;
}
