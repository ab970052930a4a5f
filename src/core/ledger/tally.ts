import type { Charge } from "../price/charge.ts";
import { Spending, type EncodedSpending, type PriceSlots } from "../price/spending.ts";
import { MissedSpending, type EncodedMissed } from "../price/missed.ts";
import { isExtraUpstream, isOwnUpstream, isPlanUpstream } from "../plans/names.ts";
import type { ExtraTokens } from "../usage/reading.ts";
import { Distribution } from "./times/distribution.ts";
import type { SummableRecord, SummableTokens } from "./record.ts";
import { isFailure, isRefused, type CountedRequest } from "./spend.ts";
import { tokensPerSecond } from "./times/tokens-per-second.ts";

/** All sums that daily sums have, but `reasoning`, which may be unknown. */
export const COUNTS = [
  "requests",
  "failed",
  "input_uncached",
  "cache_read",
  "cache_write",
  "output",
  "reasoning_unknown",
  "partial",
  "absent",
  "maybe_unbilled",
  "cut",
  "retries",
  "refused",
  "misses",
  "miss_tokens",
] as const;

/** {@link Tally} as data. */
export interface EncodedTally {
  /** In the order of the counts. */
  counts: readonly number[];
  reasoning: number | null;
  failedMidway: number;
  planRequests: number;
  extraRequests: number;
  ownRequests: number;
  ttft: string;
  speed: string;
  spending: EncodedSpending;
  /** null without a miss. */
  missed: EncodedMissed | null;
}

/** The times of a tally. */
export interface TallyTimes {
  ttft: Distribution;
  speed: Distribution;
}

/** Sums that a tally reads when it is asked for them. The times become its own. */
interface LaterSums {
  times(): TallyTimes;
  charged(): Pick<EncodedTally, "spending" | "missed">;
}

/** Sums of many requests, in the ledger's terms: the three input counts are disjoint, and `output` includes `reasoning`. */
export class Tally {
  /** Requests that spent tokens, or may have. */
  requests = 0;
  /** Other requests: refused by tollkeeper, or failed with a plain error, so that nothing was spent. */
  failed = 0;
  /** Those of `failed` that tollkeeper refused. Not known of days whose records were deleted before sums had it. */
  refused = 0;
  input_uncached = 0;
  cache_read = 0;
  cache_write = 0;
  output = 0;
  /** null when no response reported it. A lower bound when `reasoning_unknown` is not 0. */
  reasoning: number | null = null;
  /** How many of the summed token sets do not report reasoning. */
  reasoning_unknown = 0;
  /** Requests whose tokens in the sums are a lower bound. */
  partial = 0;
  /** Requests whose tokens are unknown and missing from the sums. */
  absent = 0;
  /** Tokens that are billed only in some cases; not in the sums. */
  maybe_unbilled = 0;
  /** Requests whose response was cut short, by whomever. */
  cut = 0;
  /** Further attempts at the same request by fallback, among `requests` and `failed`. */
  retries = 0;
  /** Those of `requests` that read less from the cache than they could have, as far as that is known. */
  misses = 0;
  /** Tokens of the input of these that hits would have read from the cache. */
  miss_tokens = 0;
  /** Those of `requests` that failed after the service may have done work. Daily sums have it by the names of their outcomes. */
  failed_midway = 0;
  /** Those of `requests` that a plan paid. Daily sums have it by the names of their upstreams. */
  plan_requests = 0;
  /** Those of `requests` that the service of a plan charges as use beyond it. As above. */
  extra_requests = 0;
  /** Those of `requests` that a tool paid with a key of its own, known in the same way. */
  own_requests = 0;
  readonly #slots: PriceSlots;
  readonly #later: LaterSums | null;
  #times: TallyTimes | null = null;
  #charged: { spending: Spending; missed: MissedSpending | null } | null = null;

  /** @param later what is read when it is first asked for: most rows of a long report are never asked for theirs */
  constructor(slots: PriceSlots, later: LaterSums | null = null) {
    this.#slots = slots;
    this.#later = later;
  }

  /** Milliseconds to the first token, of streams. */
  get ttft(): Distribution {
    return this.#timesRead().ttft;
  }

  /** Output tokens per second, of the streams of which that can be said. */
  get speed(): Distribution {
    return this.#timesRead().speed;
  }

  get spending(): Spending {
    return this.#chargedRead().spending;
  }

  /** What the misses cost more than hits. Only the details of closed days have it, so only reports by miss show it. */
  get missed(): MissedSpending | null {
    return this.#chargedRead().missed;
  }

  /** Adds a request that spent nothing. */
  addFailed(record: SummableRecord): void {
    this.failed += 1;
    if (isRefused(record)) this.refused += 1;
    if (record.attempt_of !== null) this.retries += 1;
  }

  /** Adds a request with its own tokens, but without its extra sets. `charges` are those for its own tokens. */
  addRequest({ record, source }: CountedRequest, charges: readonly Charge[]): void {
    this.requests += 1;
    if (isFailure(record.outcome)) this.failed_midway += 1;
    if (isPlanUpstream(record.upstream)) this.plan_requests += 1;
    else if (isExtraUpstream(record.upstream)) this.extra_requests += 1;
    else if (isOwnUpstream(record.upstream)) this.own_requests += 1;
    // What is paid by number has no tokens that could be missing.
    if (source.tokens === null) this.absent += source.usage === "none" ? 0 : 1;
    else if (source.usage !== "final") this.partial += 1;
    if (source.tokens !== null) this.#addTokens(source.tokens, source.tokens.reasoning);
    if (record.outcome === "cut") this.cut += 1;
    if (record.attempt_of !== null) this.retries += 1;
    if (record.stream === true) this.#addTimes(record);
    this.spending.addRequest(source, charges);
    if (source.miss !== null) this.#addMiss(source);
  }

  /** Adds a set of tokens that the top-level usage leaves out. Without a charge it is in none, or in a bill. */
  addExtra(set: ExtraTokens, charge: Charge | undefined): void {
    if (set.billable === true) this.#addTokens(set, null);
    else this.maybe_unbilled += set.input_uncached + set.cache_read + set.cache_write + set.output;
    if (charge !== undefined) this.spending.addCharge(charge);
  }

  /** Adds all of another one. */
  add(other: Tally): void {
    for (const name of COUNTS) this[name] += other[name];
    this.failed_midway += other.failed_midway;
    this.plan_requests += other.plan_requests;
    this.extra_requests += other.extra_requests;
    this.own_requests += other.own_requests;
    this.#addReasoning(other.reasoning);
    this.ttft.addAll(other.ttft);
    this.speed.addAll(other.speed);
    this.spending.add(other.spending);
    if (other.missed !== null) this.#missedSpending().addAll(other.missed);
  }

  /** Returns it as data that JSON can represent. */
  encode(): EncodedTally {
    return {
      counts: COUNTS.map((name) => this[name]),
      reasoning: this.reasoning,
      failedMidway: this.failed_midway,
      planRequests: this.plan_requests,
      extraRequests: this.extra_requests,
      ownRequests: this.own_requests,
      ttft: this.ttft.encode(),
      speed: this.speed.encode(),
      spending: this.spending.encode(),
      missed: this.missed?.encode() ?? null,
    };
  }

  /** Adds what another one was encoded to. */
  addEncoded(encoded: EncodedTally): void {
    const { counts, reasoning, ttft, speed, spending, missed } = encoded;
    for (const [at, name] of COUNTS.entries()) this[name] += counts[at] ?? 0;
    this.failed_midway += encoded.failedMidway;
    this.plan_requests += encoded.planRequests;
    this.extra_requests += encoded.extraRequests;
    this.own_requests += encoded.ownRequests;
    this.#addReasoning(reasoning);
    this.ttft.addEncoded(ttft);
    this.speed.addEncoded(speed);
    this.#addCharged({ spending, missed });
  }

  #timesRead(): TallyTimes {
    return (this.#times ??= this.#later?.times() ?? {
      ttft: new Distribution(),
      speed: new Distribution(),
    });
  }

  #chargedRead(): { spending: Spending; missed: MissedSpending | null } {
    if (this.#charged !== null) return this.#charged;
    this.#charged = { spending: new Spending(this.#slots), missed: null };
    const read = this.#later?.charged();
    if (read !== undefined) this.#addCharged(read);
    return this.#charged;
  }

  #addCharged({ spending, missed }: Pick<EncodedTally, "spending" | "missed">): void {
    this.spending.addEncoded(spending);
    if (missed !== null) this.#missedSpending().addEncoded(missed);
  }

  #missedSpending(): MissedSpending {
    return (this.#chargedRead().missed ??= new MissedSpending(this.#slots));
  }

  #addMiss(source: SummableRecord): void {
    this.misses += 1;
    this.miss_tokens += source.miss_tokens ?? 0;
    this.#missedSpending().add(source);
  }

  #addReasoning(reasoning: number | null): void {
    if (reasoning !== null) this.reasoning = (this.reasoning ?? 0) + reasoning;
  }

  /** Reasoning is part of the output, so it is 0 without output, even when not reported. */
  #addTokens(set: SummableTokens | ExtraTokens, reasoning: number | null): void {
    this.input_uncached += set.input_uncached;
    this.cache_read += set.cache_read;
    this.cache_write += set.cache_write;
    this.output += set.output;
    const known = set.output === 0 ? 0 : reasoning;
    if (known === null) this.reasoning_unknown += 1;
    else this.#addReasoning(known);
  }

  #addTimes(record: SummableRecord): void {
    if (record.ttft_ms !== null) this.ttft.add(record.ttft_ms);
    const speed = tokensPerSecond(record);
    if (speed !== null) this.speed.add(speed);
  }
}

/** Returns all tokens that are summed, each once. */
export function sumTokens(
  set: Pick<Tally, "input_uncached" | "cache_read" | "cache_write" | "output">,
): number {
  return set.input_uncached + set.cache_read + set.cache_write + set.output;
}
