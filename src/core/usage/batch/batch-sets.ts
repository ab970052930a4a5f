import { countOfKind } from "../gemini/usage.ts";
import { modelOf, samplesOf } from "../messages/samples.ts";
import { BATCH_SET, SUMMED } from "../reading.ts";
import type { BatchTerms, ExtraTokens, Flag, MeterReading } from "../reading.ts";
import { sizeOf, toTokens, type TokenClasses } from "../tokens.ts";
import { createReading, MAX_EXTRA, toUsageState } from "../usage-format.ts";
import { BATCH_TIER } from "../batch.ts";
import { placeOf } from "./prompt-limits.ts";

/** No request has succeeded. */
const NOTHING = { uncached: 0, read: 0, write: 0, lifetimes: null, output: 0, reasoning: 0 };

/** Tokens that are priced alike: of one model at one speed in one region, with prompts between the same limits. */
type BatchSet = TokenClasses & BatchTerms & Pick<ExtraTokens, "type" | "model" | "billable">;

/** How a message was served. */
type Served = Pick<MeterReading, "speed" | "inference_geo">;

/**
 * Adds up what the requests of a batch used: the tokens of each model, those of prompts between different limits apart, because the price
 * may depend on the size of a prompt. So may it on the speed and the region. All sets but the first are `extra`. So the record stays small,
 * whatever the number of requests.
 */
export class BatchSets {
  readonly #flags = new Set<Flag>([SUMMED]);
  /** By what they are priced by, that of the first request first. */
  readonly #sums = new Map<string, { set: BatchSet; reasoning: number | null }>();
  readonly #calls: Record<string, number> = {};
  #isComplete = true;

  /** Adds the reading of the response to one request. Without final usage, the sum is not exact. */
  add({ tokens, usage, extra, model, flags, server_tools: calls, ...rest }: MeterReading): void {
    if (tokens === null || usage !== "final") this.#isComplete = false;
    for (const flag of flags) this.#flags.add(flag);
    for (const [name, count] of Object.entries(calls)) this.#calls[name] = (this.#calls[name] ?? 0) + count;
    if (tokens === null) return;
    const { reasoning, input_total: _, total: __, ...classes } = tokens;
    const served = { speed: rest.speed, inference_geo: rest.inference_geo };
    const own = { type: BATCH_SET, model, billable: true, ...served } as const;
    const samples = samplesOf(rest.raw_usage, tokens) ?? [classes];
    // A loop of tools that is not listed has several prompts, each smaller than their sum.
    const hasLooped =
      Object.values(calls).some((count) => count > 0) ||
      (rest.raw_usage !== null && countOfKind(rest.raw_usage, "toolUse") > 0);
    const isLoop = samples[0] === classes && hasLooped;
    for (const sample of samples)
      this.#add({ ...own, ...sample }, samples.length === 1 ? reasoning : null, isLoop);
    for (const set of extra) this.#add({ ...set, model: modelOf(set, model), ...served }, null, false);
  }

  /** Something else was used that no set can have. */
  addUnknown(): void {
    this.#isComplete = false;
  }

  #add(tokens: ExtraTokens & Served, reasoning: number | null, isLoop: boolean): void {
    const size = sizeOf(tokens);
    const set = { ...tokens, smallest_prompt: isLoop ? 0 : size, largest_prompt: size };
    const key = JSON.stringify([
      set.type,
      set.model,
      set.billable,
      set.speed,
      set.inference_geo,
      placeOf(set),
    ]);
    const sum = this.#sums.get(key);
    if (sum === undefined && this.#sums.size > MAX_EXTRA) this.#flags.add("extra_cut_short");
    else if (sum === undefined) this.#sums.set(key, { set, reasoning });
    else {
      addTo(sum.set, set);
      sum.reasoning = reasoning === null || sum.reasoning === null ? null : sum.reasoning + reasoning;
    }
  }

  /** Returns the usage of all of them. `isWhole`: no further ones follow. */
  toReading(isWhole: boolean): MeterReading {
    const [first, ...extra] = this.#sums.values();
    const counts = first === undefined ? NOTHING : countsOf(first.set, first.reasoning);
    const tokens = toTokens(counts, new Set());
    return {
      ...createReading(
        isWhole ? "completed" : "cut",
        toUsageState(tokens, isWhole && this.#isComplete, this.#flags),
      ),
      model: first?.set.model ?? null,
      service_tier: BATCH_TIER,
      speed: first?.set.speed ?? null,
      inference_geo: first?.set.inference_geo ?? null,
      tokens,
      extra: first === undefined ? [] : extra.map(({ set }) => toExtra(set, first.set)),
      server_tools: { ...this.#calls },
      flags: [...this.#flags],
      smallest_prompt: first?.set.smallest_prompt ?? null,
      largest_prompt: first?.set.largest_prompt ?? null,
    };
  }
}

/** Leaves out what a set has in common with the first one. */
function toExtra({ speed, inference_geo, ...set }: BatchSet, first: Served): ExtraTokens {
  const isAlike = speed === first.speed && inference_geo === first.inference_geo;
  return isAlike ? set : { ...set, speed, inference_geo };
}

function addTo(sum: BatchSet, set: BatchSet): void {
  sum.input_uncached += set.input_uncached;
  sum.cache_read += set.cache_read;
  sum.cache_write += set.cache_write;
  sum.cache_write_5m += set.cache_write_5m;
  sum.cache_write_1h += set.cache_write_1h;
  sum.cache_write_30m += set.cache_write_30m;
  sum.cache_write_12h += set.cache_write_12h;
  sum.cache_write_ttl_unknown += set.cache_write_ttl_unknown;
  sum.output += set.output;
  sum.smallest_prompt = Math.min(sum.smallest_prompt, set.smallest_prompt);
  sum.largest_prompt = Math.max(sum.largest_prompt, set.largest_prompt);
}

function countsOf(set: TokenClasses, reasoning: number | null) {
  const { cache_write_5m: m5, cache_write_1h: h1, cache_write_30m: m30, cache_write_12h: h12 } = set;
  return {
    uncached: set.input_uncached,
    read: set.cache_read,
    write: set.cache_write,
    lifetimes: { m5, h1, m30, h12 },
    output: set.output,
    reasoning,
  };
}
