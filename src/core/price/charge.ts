import type { SummableRecord } from "../ledger/record.ts";
import type { Tokens } from "../usage/reading.ts";
import { splitByMedium } from "./media.ts";
import { parseMoney, type Money } from "./money.ts";
import {
  assumedPart,
  billedCalls,
  findMedia,
  partsOf,
  partWithoutTokens,
  unknownPart,
  type Part,
  type TokenSet,
  type Used,
} from "./parts.ts";
import type { RateClass } from "./rate-class.ts";

/** The classes of a record's tokens, and the prices that apply to them. */
export const TOKEN_CLASSES = [
  ["input_uncached", "input"],
  ["cache_read", "cacheRead"],
  ["cache_write_5m", "cacheWrite"],
  // The usual lifetime of OpenAI's entries, as 5 minutes is that of Anthropic's. Neither has both.
  ["cache_write_30m", "cacheWrite"],
  ["cache_write_1h", "cacheWrite1h"],
  ["cache_write_12h", "cacheWrite12h"],
  ["cache_write_ttl_unknown", "cacheWrite"],
  ["output", "output"],
] as const satisfies readonly (readonly [keyof TokenSet, RateClass])[];

/** A class of tokens that may have a price of its own. */
export type TokenClass = (typeof TOKEN_CLASSES)[number][0];

/** What decides the price of tokens and calls. */
export interface PriceTerms {
  upstream: string;
  /** Name of the model; null when it is not known. */
  model: string | null;
  /** A time at which its prices apply; ISO 8601. Parsed only where prices change. */
  ts: string;
  tier: string | null;
  speed: string | null;
  geo: string | null;
  /** The size of the prompt, cached input included, is at least this. In sums, where prompts have several sizes, it is in between. */
  least: number;
  /** It is at most this. */
  most: number;
  /** True when it may be the sum of several prompts, so that the size of none of them is known. */
  isSum: boolean;
  /** False for what another model or a compaction did besides, for which fees per request do not apply. */
  isOwn: boolean;
  /** Whether the tokens are all that was used, less than that, or not known at all. */
  certainty: "exact" | "lower_bound" | "unknown";
  /**
   * Kinds of tokens with a price that a record does not tell, such as `input_audio`; or the one medium that all tokens of the charge are of,
   * such as `audio`.
   */
  media: readonly string[];
}

/** Tokens and calls that are priced alike. */
export interface Charge {
  terms: PriceTerms;
  /** How many requests it is for; a further charge of a request counts none. */
  requests: number;
  /** Where they are not known, an estimate by the request's size, which has no price (`certainty`). */
  tokens: Readonly<Pick<Tokens, TokenClass>>;
  /** Calls of the service's tools, by name. */
  tools: Readonly<Record<string, number>>;
}

/** What a charge without tokens has of each class. */
export const NO_TOKENS: Charge["tokens"] = {
  input_uncached: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_30m: 0,
  cache_write_1h: 0,
  cache_write_12h: 0,
  cache_write_ttl_unknown: 0,
  output: 0,
};

/** What of a record is charged for. */
type ChargedRecord = Used &
  Pick<
    SummableRecord,
    "ts" | "upstream" | "service_tier" | "speed" | "inference_geo" | "billed_usd" | "usage" | "flags"
  > &
  Partial<Pick<SummableRecord, "route">>;

const NONE = { own: [], extra: [] };
const NO_MEDIA: readonly string[] = [];

/** What of a charge is not in its part: tools and media count with the first part of a request. */
type Rest = Pick<Charge, "requests" | "tools"> & Pick<PriceTerms, "isOwn" | "media">;

const FIRST: Rest = { isOwn: true, requests: 1, media: NO_MEDIA, tools: {} };
const FURTHER: Rest = { ...FIRST, requests: 0 };
const OTHER: Rest = { ...FURTHER, isOwn: false };

/**
 * Returns what a request is charged for: `own` by the model that served it, last what it may have used beyond its counts, for no request, and `extra` for each set of `extra` that is certainly
 * billed, in its order. Nothing for a request that the service has billed itself.
 */
export function chargesOf(record: ChargedRecord): { own: readonly Charge[]; extra: readonly Charge[] } {
  const { raw_usage: rawUsage } = record;
  if (record.billed_usd !== null) return NONE;
  if (record.tokens === null && record.usage === "none")
    return {
      own: [chargeOf(record, partWithoutTokens(record), { ...FIRST, tools: billedCalls(record) })],
      extra: [],
    };
  if (record.tokens === null)
    return {
      own: [chargeOf(record, unknownPart(record), { ...FIRST, tools: billedCalls(record) })],
      extra: [],
    };
  const { own, extra } = partsOf(record);
  const [first, ...others] = own;
  const media = rawUsage === null ? NO_MEDIA : findMedia(rawUsage, record.route);
  const assumed = record.usage === "partial" ? assumedPart(record) : null;
  const split = first === undefined || rawUsage === null ? null : splitByMedium(first.tokens, rawUsage);
  return {
    own:
      first === undefined
        ? []
        : [
            chargeOf(
              record,
              split === null ? first : { ...first, tokens: split.rest },
              { ...FIRST, media, tools: billedCalls(record) },
              certaintyOf(record),
              first.tokens,
            ),
            ...(split?.media ?? []).map(([medium, tokens]) =>
              chargeOf(
                record,
                { ...first, tokens },
                { ...FURTHER, media: [medium] },
                certaintyOf(record),
                first.tokens,
              ),
            ),
            ...others.map((part) => chargeOf(record, part, FURTHER)),
            ...(assumed === null ? [] : [chargeOf(record, assumed, FURTHER, "unknown")]),
          ],
    extra: extra.map((part) => chargeOf(record, part, OTHER)),
  };
}

/** Returns what the service says that it charged; null when it does not say. */
export function billOf({ billed_usd: billed }: Pick<SummableRecord, "billed_usd">): Money | null {
  return billed === null ? null : parseMoney(billed);
}

/** How sure the tokens of a request are. */
function certaintyOf({ tokens, usage, flags }: ChargedRecord): PriceTerms["certainty"] {
  // What is paid by number was counted, and has no tokens.
  if (tokens === null) return usage === "none" ? "exact" : "unknown";
  return usage === "final" && !flags.includes("extra_cut_short") ? "exact" : "lower_bound";
}

function chargeOf(
  record: ChargedRecord,
  { model, tokens, isSum, prompts, served }: Part,
  { isOwn, requests, media, tools }: Rest,
  certainty = certaintyOf(record),
  /** Of the whole prompt, of which these may be a part. */
  whole = tokens,
): Charge {
  const { upstream, ts } = record;
  const modifiers = certainty === "unknown" ? askedTerms(record) : reportedTerms(record);
  const { speed, geo } = served ?? modifiers;
  // What was reserved has its class, and no sum of the written ones.
  const { cache_write_5m: m5, cache_write_1h: h1, cache_write_12h: h12 } = whole;
  const written = Math.max(whole.cache_write, m5 + h1 + h12);
  const prompt = whole.input_uncached + whole.cache_read + written;
  const sizes = prompts ?? { least: prompt, most: prompt };
  const terms: PriceTerms = {
    upstream,
    model,
    ts,
    tier: modifiers.tier,
    speed,
    geo,
    ...sizes,
    isSum,
    isOwn,
    certainty,
    media,
  };
  return { terms, requests, tokens, tools };
}

type Modifiers = Pick<PriceTerms, "tier" | "speed" | "geo">;

function reportedTerms({ service_tier: tier, speed, inference_geo: geo }: ChargedRecord): Modifiers {
  return { tier, speed, geo };
}

/** Of what is not known to have been used, the service may not have said at which tier, speed or region: then what was asked for counts. */
function askedTerms(record: ChargedRecord): Modifiers {
  const { tier, speed, geo } = reportedTerms(record);
  return {
    tier: tier ?? record.reserved_tier ?? null,
    speed: speed ?? record.reserved_speed ?? null,
    geo: geo ?? record.reserved_geo ?? null,
  };
}
