import { SANDBOX_UPSTREAM } from "../config/names.ts";
import type { SummableRecord, SummableTokens } from "../ledger/record.ts";
import { classify, isBackground, type CountedRequest } from "../ledger/spend.ts";
import { priceCharge } from "../price/charge-cost.ts";
import { billOf, chargesOf, type Charge } from "../price/charge.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { ExtraTokens } from "../usage/reading.ts";
import { BackgroundUsage, type EncodedBackground } from "./background-usage.ts";
import { BoundedNames } from "./bounded-names.ts";
import { BoundedSeries } from "./bounded-series.ts";
import { errorTypeOf, kindOf } from "./exchange-attributes.ts";
import { TimeSeries, type EncodedTimes, type TimeNames } from "./time-series.ts";
import { CERTAINTIES, UsageSeries, type EncodedSeries, type SeriesNames } from "./usage-series.ts";

/** How many tools, models and upstreams are told apart. */
const MAX_NAMES = 200;

/** How many combinations of them are: 200 tools that request 200 models would be 40,000, with ten lines each in every scrape. */
const MAX_SERIES = 2_000;
const MAX_TIMES = 500;

/** How many of the newest ids are kept, by which a copy is told that a crash has left (ledger/copies.ts). */
const MAX_IDS = 1_024;

/** {@link UsageMetrics} as data that JSON can represent. */
export interface EncodedUsageMetrics {
  tools: readonly string[];
  models: readonly string[];
  upstreams: readonly string[];
  series: readonly EncodedSeries[];
  times: readonly EncodedTimes[];
  sandbox: readonly (readonly [tool: string, requests: number])[];
  background: EncodedBackground;
  unreadable: number;
  lastIds: readonly string[];
}

/**
 * Counts records for monitoring: sums that only grow. What counts, and what it costs, is decided as in reports (ledger/spend.ts, price/),
 * so that the sums of both are equal. A record is priced when it is added, because a counter may not fall when a price does.
 */
export class UsageMetrics {
  readonly #tools: BoundedNames;
  readonly #models: BoundedNames;
  readonly #upstreams: BoundedNames;
  readonly #series: BoundedSeries<SeriesNames, UsageSeries>;
  readonly #times: BoundedSeries<TimeNames, TimeSeries>;
  readonly #sandbox: Map<string, number>;
  readonly #background: BackgroundUsage;
  readonly #lastIds: Set<string>;
  /** Lines of the ledger that could not be read as records, so that what they say is in no count. */
  unreadable: number;

  /** @param encoded what {@link encode} returned; without it, nothing is counted yet */
  constructor(encoded?: EncodedUsageMetrics) {
    this.#tools = new BoundedNames(MAX_NAMES, encoded?.tools);
    this.#models = new BoundedNames(MAX_NAMES, encoded?.models);
    this.#upstreams = new BoundedNames(MAX_NAMES, encoded?.upstreams);
    const series = encoded?.series.map((one) => new UsageSeries(one.names, one)) ?? [];
    this.#series = new BoundedSeries(MAX_SERIES, (names) => new UsageSeries(names), series);
    const times = encoded?.times.map((one) => new TimeSeries(one.names, one)) ?? [];
    this.#times = new BoundedSeries(MAX_TIMES, (names) => new TimeSeries(names), times);
    this.#sandbox = new Map(encoded?.sandbox);
    this.#background = new BackgroundUsage(encoded?.background);
    this.#lastIds = new Set(encoded?.lastIds);
    this.unreadable = encoded?.unreadable ?? 0;
  }

  /** Adds a record, in the ledger's order. */
  add(record: SummableRecord, prices: PriceBook): void {
    if (this.#isCopy(record)) return;
    if (record.upstream === SANDBOX_UPSTREAM) {
      const tool = this.#tools.of(record.tool);
      this.#sandbox.set(tool, (this.#sandbox.get(tool) ?? 0) + 1);
      return;
    }
    const kind = classify(record);
    this.#seriesOf(record, record.model).requests.add(record);
    this.#addTimes(record, kind);
    if (isBackground(record, kind))
      for (const counted of this.#background.add(record)) this.#addUsage(counted, prices);
    else if (kind === "request") this.#addUsage({ record, source: record }, prices);
  }

  /** The requests and what they used. */
  get series(): readonly UsageSeries[] {
    return this.#series.all();
  }

  /** How long requests took. */
  get times(): readonly TimeSeries[] {
    return this.#times.all();
  }

  /** Requests that the sandbox responded to, by tool. Their tokens are made up, and in no count. */
  get sandbox(): ReadonlyMap<string, number> {
    return this.#sandbox;
  }

  encode(): EncodedUsageMetrics {
    return {
      tools: this.#tools.all(),
      models: this.#models.all(),
      upstreams: this.#upstreams.all(),
      series: this.series.map((one) => one.encode()),
      times: this.times.map((one) => one.encode()),
      sandbox: [...this.#sandbox],
      background: this.#background.encode(),
      unreadable: this.unreadable,
      lastIds: [...this.#lastIds],
    };
  }

  #isCopy({ id }: SummableRecord): boolean {
    if (this.#lastIds.has(id)) return true;
    this.#lastIds.add(id);
    const [oldest] = this.#lastIds;
    if (this.#lastIds.size > MAX_IDS && oldest !== undefined) this.#lastIds.delete(oldest);
    return false;
  }

  #addTimes(record: SummableRecord, kind: ReturnType<typeof classify>): void {
    // What we refused was no operation of a model, and neither is a list of models.
    if (record.outcome === "rejected" || (kind !== "request" && kind !== "failed")) return;
    const { upstream, api, operation, requested, served } = this.#namesOf(record, record.model);
    const error = errorTypeOf(record);
    const times = this.#times.at({ upstream, api, operation, requested, served, error });
    times.duration.add(record.duration_ms);
    // An error response to the request for a stream is none.
    if (kind === "request" && record.stream === true && record.ttft_ms !== null)
      times.firstChunk.add(record.ttft_ms);
  }

  #addUsage({ record, source }: CountedRequest, prices: PriceBook): void {
    const series = this.#seriesOf(record, source.model ?? record.model);
    const { tokens, usage } = source;
    // What is paid by number has no tokens that could be missing.
    const isByNumber = tokens === null && usage === "none";
    const isFinal = isByNumber || usage === "final";
    series.counts[tokens === null && !isByNumber ? "absent" : isFinal ? "final" : "partial"] += 1;
    if (tokens !== null) addTokens(series, tokens, tokens.reasoning);
    const { own, extra } = chargesOf(source);
    series.cost += billOf(source) ?? 0n;
    let worst = priceAll(series, own, prices);
    const charges = extra.values();
    for (const set of source.extra) {
      const other = set.model === null ? series : this.#seriesOf(record, set.model);
      if (set.billable === true) {
        addTokens(other, set, null);
        const charge = charges.next().value;
        if (charge !== undefined) worst = Math.max(worst, priceAll(other, [charge], prices));
      } else other.counts.maybe_unbilled += inputOf(set) + set.output;
    }
    series.counts[CERTAINTIES[worst] ?? "unknown"] += 1;
  }

  #seriesOf(record: SummableRecord, served: string | null): UsageSeries {
    return this.#series.at(this.#namesOf(record, served));
  }

  #namesOf(record: SummableRecord, served: string | null): SeriesNames {
    const { tool, upstream, model_requested: requested } = record;
    return {
      tool: this.#tools.of(tool),
      upstream: this.#upstreams.of(upstream),
      ...kindOf(record),
      requested: requested === null ? null : this.#models.of(requested),
      served: served === null ? null : this.#models.of(served),
    };
  }
}

function addTokens(
  { counts }: UsageSeries,
  set: SummableTokens | ExtraTokens,
  reasoning: number | null,
): void {
  counts.input += inputOf(set);
  counts.output += set.output;
  counts.cache_read += set.cache_read;
  counts.cache_write += set.cache_write;
  counts.reasoning += reasoning ?? 0;
}

function inputOf(set: SummableTokens | ExtraTokens): number {
  return set.input_uncached + set.cache_read + set.cache_write;
}

/** Adds the cost of charges. Returns its certainty, as an index of `CERTAINTIES`. */
function priceAll(series: UsageSeries, charges: readonly Charge[], prices: PriceBook): number {
  let worst = 0;
  for (const charge of charges) {
    // What is only assumed is in no cost.
    if (charge.terms.certainty === "unknown" && charge.requests === 0) continue;
    const { lines, missing, certainty } = priceCharge(charge, prices);
    for (const { amount } of lines) series.cost += amount;
    const known = certainty === "unknown" ? 3 : certainty === "lower_bound" ? 1 : 0;
    worst = Math.max(worst, missing.length > 0 && known < 3 ? 2 : known);
  }
  return worst;
}
