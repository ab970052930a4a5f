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
  /** The upstreams of requests that were left out because it is not known who bills them, by the common names of their models. */
  readonly unknownBiller = new Map<string, Set<string>>();

  /** Adds a request, with its cost if costs are compared. */
  add(request: CountedRequest, cost: Cost | null): void {
    const { record, source } = request;
    const model = modelOf(request);
    const sums = this.#sumsOf(record.ts, record.upstream, model);
    sums.requests += 1;
    if (source.tokens === null) sums.absent += source.usage === "none" ? 0 : 1;
    else if (source.usage !== "final") sums.partial += 1;
    if (source.tokens !== null) addTokens(sums, source.tokens);
    if (cost?.kind === "priced") sums.cost += cost.amount;
    else if (cost !== null) sums.unpriced += 1;
    for (const set of source.extra)
      if (set.billable === true) addTokens(this.#sumsOf(record.ts, record.upstream, set.model ?? model), set);
  }

  /** Notes a request that is left out because it is not known who bills it. */
  leaveOut(request: CountedRequest): void {
    addTo(this.unknownBiller, commonName(modelOf(request)), request.record.upstream);
  }

  /** Returns the models without a known price at these upstreams, by the names that the ledger has for them. */
  unpricedModels(upstreams: ReadonlySet<string>): string[] {
    const unpriced = [...this.#quarters.values()].filter(
      ({ upstream, sums }) => sums.unpriced > 0 && upstreams.has(upstream),
    );
    return [...new Set(unpriced.flatMap(({ model }) => [...(this.names.get(model) ?? [])]))].toSorted();
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
    addTo(this.names, model, name);
    const key = JSON.stringify([start, upstream, model]);
    let quarter = this.#quarters.get(key);
    if (quarter === undefined)
      this.#quarters.set(key, (quarter = { start, upstream, model, sums: noUsage() }));
    return quarter.sums;
  }
}

/** Returns the model that a request is billed as. */
export function modelOf({ record, source }: CountedRequest): string {
  return source.model ?? record.model ?? record.alias ?? record.model_requested ?? "unknown";
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([value]));
  else known.add(value);
}

type Counts = Pick<Tokens, "input_uncached" | "cache_read" | "cache_write" | "output">;

function addTokens(sums: LedgerSums, set: Counts): void {
  sums.tokens.input += set.input_uncached + set.cache_read + set.cache_write;
  sums.tokens.cache_read += set.cache_read;
  sums.tokens.cache_write += set.cache_write;
  sums.tokens.output += set.output;
}
