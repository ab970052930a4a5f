import { isObject, type JsonObject } from "../json.ts";
import type { ReservedClass, SummableRecord, SummableTokens } from "../ledger/record.ts";
import { estimateTokens } from "../usage/estimate-tokens.ts";
import { asCount, asObject } from "../usage/fields.ts";
import { chargesSearchesOnce } from "../usage/gemini/searches.ts";
import { countOfKind, isCounting } from "../usage/gemini/usage.ts";
import { modelOf, samplesOf } from "../usage/messages/samples.ts";
import { readMessagesCounts } from "../usage/messages/usage.ts";
import { SUMMED, type ExtraTokens, type Flag, type PromptSizes } from "../usage/reading.ts";
import { readSentCounts } from "../usage/sent-counts.ts";
import { toTokenClasses, type TokenClasses } from "../usage/tokens.ts";

/** Tokens by class; the input classes do not overlap. */
export type TokenSet = TokenClasses;

/** Tokens that are priced together: those of one prompt and what was generated from it, or of several prompts of a batch. */
export interface Part {
  /** Name of the model; null when it is not known. */
  model: string | null;
  tokens: TokenSet;
  /** True when it may be the sum of several prompts, so that the size of none of them is known. */
  isSum: boolean;
  /** How large the prompts are; left out where it is one, as large as its input, and where `isSum` is true. */
  prompts?: { least: number; most: number };
  /** How it was served, of a set of a batch; left out where it is as the record says. */
  served?: { speed: string | null; geo: string | null };
}

/** What of a record says what was sent and generated, and by which models. */
export type Used = Pick<
  SummableRecord,
  "model" | "alias" | "model_requested" | "tokens" | "extra" | "server_tools" | "raw_usage"
> &
  Partial<
    Pick<
      SummableRecord,
      | "bytes_in"
      | "bytes_out"
      | "output_estimate"
      | "reserved_input"
      | "reserved_output"
      | "reserved_class"
      | "reserved_tier"
      | "reserved_speed"
      | "reserved_geo"
      | "flags"
      | keyof PromptSizes
    >
  >;

/**
 * Splits a request into parts, because the price of a prompt may depend on its size. The service's tool loop samples the model
 * several times; usage is the sum, and `iterations` of the Messages API say what it was each time. They are used only if they add
 * up to it. Sets in `extra` are parts of their own; those that are billed only in some cases are left out. The results of a batch are added
 * up in sets of prompts between the same limits (usage/batch/results.ts), so a set has the price of its sizes, its speed and its region.
 */
export function partsOf(record: Used): { own: Part[]; extra: Part[] } {
  const model = record.model ?? record.alias ?? record.model_requested;
  const { tokens } = record;
  const billed = record.extra.filter(({ billable }) => billable === true);
  const isSum = record.flags?.includes(SUMMED) === true;
  return {
    own: tokens === null ? [] : splitTokens(record, tokens, model),
    extra: billed.map((set) => extraPart(set, model, isSum)),
  };
}

/**
 * Returns the part of a request whose tokens are not known: an estimate, which is in no cost. Budgets count it. It is what was reserved;
 * else the output is the text that a stream has brought, or the size of the response, and the input is the size of the request.
 */
export function unknownPart(record: Used): Part {
  const { model, alias, model_requested: requested, bytes_in: sent = 0, bytes_out: received = 0 } = record;
  const { reserved_input: input, reserved_output: reserved } = record;
  const output = Math.max(record.output_estimate ?? estimateTokens(received), reserved ?? 0);
  const tokens = { ...NO_TOKENS, output };
  tokens[classOf(record)] = input ?? estimateTokens(sent);
  return { model: model ?? alias ?? requested, tokens, isSum: false };
}

/** Returns the part of a request that is paid by number alone. */
export function partWithoutTokens({ model, alias, model_requested: requested }: Used): Part {
  return { model: model ?? alias ?? requested, tokens: NO_TOKENS, isSum: false };
}

/** Returns the class of the reserved input. A record of an earlier version has none. */
function classOf({ reserved_class: reserved }: Used): ReservedClass {
  return RESERVED_CLASSES.find((name) => name === reserved) ?? "input_uncached";
}

const RESERVED_CLASSES = [
  "input_uncached",
  "cache_write_5m",
  "cache_write_1h",
  "cache_write_12h",
] as const satisfies readonly ReservedClass[];

/**
 * Returns what a request may have used beyond its counts, where they are not exact: the text that a stream has brought, or what was reserved
 * for its output, less the output that is counted, and the higher of two figures that contradict each other. As {@link unknownPart}; null where there is nothing.
 */
export function assumedPart(record: Used): Part | null {
  const { tokens, output_estimate: estimate, reserved_output: reserved, raw_usage: rawUsage } = record;
  if (tokens === null) return null;
  const earlier = asObject(rawUsage?.["earlier"]);
  const higher = (names: readonly string[]) =>
    Math.max(0, ...names.map((name) => asCount(earlier[name]) ?? 0));
  const most = Math.max(estimate ?? 0, reserved ?? 0, higher(OUTPUTS));
  const output = Math.max(0, most - tokens.output);
  const input = tokens.input_uncached + tokens.cache_read + tokens.cache_write;
  const uncached = Math.max(0, higher(INPUTS) - input);
  const { read, write, reasoning } = rejectedCounts(record);
  if (output + uncached + read + write + reasoning === 0) return null;
  const model = record.model ?? record.alias ?? record.model_requested;
  return {
    model,
    tokens: {
      ...NO_TOKENS,
      input_uncached: uncached,
      cache_read: read,
      cache_write: write,
      cache_write_ttl_unknown: write,
      output: Math.max(output, reasoning),
    },
    isSum: false,
  };
}

/** Returns the counts that the meter did not take because others contradict them, where nothing decides which are right. */
function rejectedCounts({ tokens, raw_usage: rawUsage, flags = [] }: Used): {
  read: number;
  write: number;
  reasoning: number;
} {
  if (tokens === null || rawUsage === null || !REJECTING.some((flag) => flags.includes(flag)))
    return NO_COUNTS;
  const sent = readSentCounts(rawUsage, "chat");
  return {
    read: Math.max(0, (sent.read ?? 0) - tokens.cache_read),
    write: Math.max(0, (sent.write ?? 0) - tokens.cache_write),
    // It may all be outside of the output.
    reasoning: tokens.output < (sent.reasoning ?? 0) ? (sent.reasoning ?? 0) : 0,
  };
}

const REJECTING: readonly Flag[] = ["undecided", "cache_read_write_overlap"];
const NO_COUNTS = { read: 0, write: 0, reasoning: 0 };

/** Names of counts in `raw_usage.earlier`. */
const INPUTS = ["input_tokens", "prompt_tokens", "cache_read_input_tokens"] as const;
const OUTPUTS = ["output_tokens", "completion_tokens"] as const;

const NO_TOKENS = toTokenClasses(readMessagesCounts({}), new Set());

function extraPart(set: ExtraTokens, own: string | null, isSum: boolean): Part {
  const part = withSizes({ model: modelOf(set, own), tokens: set, isSum }, set);
  const { speed, inference_geo: geo } = set;
  return speed === undefined || geo === undefined ? part : { ...part, served: { speed, geo } };
}

/** Adds the sizes of the prompts to a part, where they are known. */
function withSizes(
  part: Part,
  { smallest_prompt: least, largest_prompt: most }: { [Name in keyof PromptSizes]?: number | null },
): Part {
  return typeof least === "number" && typeof most === "number"
    ? { ...part, isSum: false, prompts: { least, most } }
    : part;
}

function splitTokens(record: Used, tokens: SummableTokens, model: string | null): Part[] {
  const samples = samplesOf(record.raw_usage, tokens);
  if (samples !== null) return samples.map((sample) => ({ model, tokens: sample, isSum: false }));
  const hasLooped = record.raw_usage !== null && countOfKind(record.raw_usage, "toolUse") > 0;
  const isSummed = record.flags?.includes(SUMMED) === true;
  const isSum = isSummed || hasLooped || Object.values(record.server_tools).some((calls) => calls > 0);
  return [withSizes({ model, tokens, isSum }, record)];
}

/** Returns the calls of the service's tools that it charges for. Those of a batch are counted for each of its prompts. */
export function billedCalls(
  record: Pick<Used, "model" | "alias" | "model_requested" | "server_tools" | "raw_usage" | "flags">,
): Used["server_tools"] {
  const { model, alias, model_requested: requested, server_tools: tools, raw_usage: usage, flags } = record;
  const isOne = usage !== null && isCounting(usage) && flags?.includes(SUMMED) !== true;
  const isOnce = isOne && chargesSearchesOnce(model ?? alias ?? requested);
  return isOnce && (tools["web_search"] ?? 0) > 1 ? { ...tools, web_search: 1 } : tools;
}

const NO_MEDIA: readonly string[] = [];
const INPUT_MEDIA = ["audio"] as const;
const OUTPUT_MEDIA = ["audio", "image"] as const;

const DETAILS = [
  ["input", "prompt_tokens_details", INPUT_MEDIA],
  ["input", "input_tokens_details", INPUT_MEDIA],
  // Of transcriptions.
  ["input", "input_token_details", INPUT_MEDIA],
  ["output", "completion_tokens_details", OUTPUT_MEDIA],
  ["output", "output_tokens_details", OUTPUT_MEDIA],
] as const;

/** What these routes are for has a price of its own, also where the usage does not tell it apart. */
const ROUTE_MEDIA: Readonly<Record<string, readonly string[]>> = {
  "/images/generations": ["output_image"],
  "/images/edits": ["input_image", "output_image"],
  "/images/variations": ["input_image", "output_image"],
  "/audio/speech": ["output_audio"],
  "/audio/transcriptions": ["input_audio"],
  "/audio/translations": ["input_audio"],
};

/**
 * Returns what part of a request's tokens has a price of its own that a record does not tell: `input_audio`, `output_audio`,
 * `output_image`. They are among its input and its output. `route` is where it was sent; undefined where that is not known.
 */
export function findMedia(rawUsage: JsonObject | null, route: string | undefined): readonly string[] {
  const ofRoute = route === undefined || !Object.hasOwn(ROUTE_MEDIA, route) ? undefined : ROUTE_MEDIA[route];
  if (ofRoute !== undefined) return ofRoute;
  if (rawUsage === null) return NO_MEDIA;
  let found: Set<string> | null = null;
  for (const [direction, name, media] of DETAILS) {
    const details = rawUsage[name];
    if (!isObject(details)) continue;
    for (const medium of media)
      if ((asCount(details[`${medium}_tokens`]) ?? 0) > 0)
        (found ??= new Set()).add(`${direction}_${medium}`);
  }
  return found === null ? NO_MEDIA : [...found];
}
