import { isObject, type JsonObject } from "../../json.ts";
import { asCount, asWord } from "../fields.ts";
import type { Flag } from "../reading.ts";
import type { UsageCounts } from "../tokens.ts";

/** What a count is called, and the list that tells it by modality. */
interface Names {
  count: string;
  details: readonly string[];
}

/** The names in one of the forms of usage. */
interface UsageNames {
  prompt: Names;
  cached: Names;
  output: Names;
  toolUse: Names;
  thoughts: string;
  total: string;
  /** The member of a detail that has the count. */
  detail: string;
}

/** `usageMetadata` (npm `@google/genai`, `GenerateContentResponseUsageMetadata`). Embeddings spell the first list without an s. */
const METADATA: UsageNames = {
  prompt: { count: "promptTokenCount", details: ["promptTokensDetails", "promptTokenDetails"] },
  cached: { count: "cachedContentTokenCount", details: ["cacheTokensDetails"] },
  output: { count: "candidatesTokenCount", details: ["candidatesTokensDetails"] },
  toolUse: { count: "toolUsePromptTokenCount", details: ["toolUsePromptTokensDetails"] },
  thoughts: "thoughtsTokenCount",
  total: "totalTokenCount",
  detail: "tokenCount",
};

/** The same on a WebSocket of the Live API (npm `@google/genai`, `UsageMetadata`). Vertex has the names of above there, too. */
const LIVE: UsageNames = {
  ...METADATA,
  output: { count: "responseTokenCount", details: ["responseTokensDetails"] },
};

/** `usage` of the Interactions API (npm `@google/genai`, `Usage`). */
const INTERACTION: UsageNames = {
  prompt: { count: "total_input_tokens", details: ["input_tokens_by_modality"] },
  cached: { count: "total_cached_tokens", details: ["cached_tokens_by_modality"] },
  output: { count: "total_output_tokens", details: ["output_tokens_by_modality"] },
  toolUse: { count: "total_tool_use_tokens", details: ["tool_use_tokens_by_modality"] },
  thoughts: "total_thought_tokens",
  total: "total_tokens",
  detail: "tokens",
};

/** The kinds of tokens that a list of details tells apart. */
export type TokenKind = "prompt" | "cached" | "output" | "toolUse";
const KINDS: readonly TokenKind[] = ["prompt", "cached", "output", "toolUse"];

function namesOf(usage: JsonObject): UsageNames {
  if (isTold(usage, INTERACTION)) return INTERACTION;
  return Object.hasOwn(usage, LIVE.output.count) ? LIVE : METADATA;
}

function isTold(usage: JsonObject, { prompt, total }: UsageNames): boolean {
  return asCount(usage[prompt.count]) !== null || asCount(usage[total]) !== null;
}

/** True for an object that counts: one of `{trafficType}` alone, or with a part of the counts, is none (docs/wire.md section 12). */
export function isCounting(usage: JsonObject): boolean {
  return isTold(usage, namesOf(usage));
}

/** True for an object whose counts are all 0. Translators send one where they do not know the counts yet, or any more. */
export function isZero(usage: JsonObject): boolean {
  const names = namesOf(usage);
  const counts = [...KINDS.map((kind) => names[kind].count), names.thoughts, names.total];
  return counts.every((name) => (asCount(usage[name]) ?? 0) === 0);
}

/**
 * Reads a usage object of Gemini: the cache is in the prompt, what the service's tools fed back is input beside the prompt, and thoughts are
 * output beside the candidates. Where it adds up otherwise, its total decides (docs/wire.md section 12). A missing count is 0.
 * Vertex's `predict` counts the input alone. The total of a turn of the Live API leaves its thoughts out, although they are output.
 */
export function readGeminiUsage(usage: JsonObject, flags: Set<Flag>): UsageCounts {
  const predicted = asCount(usage["token_count"]);
  if (predicted !== null) return { ...NOTHING, uncached: predicted, output: 0 };
  const names = namesOf(usage);
  if (!isTold(usage, names)) return NOTHING;
  const total = asCount(usage[names.total]);
  const toolUse = countOf(usage, names, "toolUse");
  const reasoning = asCount(usage[names.thoughts]);
  const thoughts = reasoning ?? 0;
  const candidates = countOf(usage, names, "output");
  const prompt =
    asCount(usage[names.prompt.count]) ?? Math.max(0, (total ?? 0) - toolUse - candidates - thoughts);
  const isWithoutThoughts = names === LIVE && total === prompt + toolUse + candidates;
  const whole = isWithoutThoughts ? total + thoughts : total;
  const [input, output] = reconcile(prompt, toolUse, candidates, thoughts, whole, flags);
  let cached = countOf(usage, names, "cached");
  if (cached > input) {
    cached = 0;
    flags.add("cached_exceeds_prompt");
    if (sumOf(readDetails(usage, names, "prompt")) !== prompt) flags.add("undecided");
  }
  checkDetails(usage, names, flags);
  return { uncached: input - cached, read: cached, write: null, lifetimes: null, output, reasoning };
}

const NOTHING: UsageCounts = {
  uncached: null,
  read: null,
  write: null,
  lifetimes: null,
  output: null,
  reasoning: null,
};

function countOf(usage: JsonObject, names: UsageNames, kind: TokenKind): number {
  return asCount(usage[names[kind].count]) ?? 0;
}

/** Returns input and output. Where the total is not the sum, it tells which of the parts is in another. */
function reconcile(
  prompt: number,
  toolUse: number,
  candidates: number,
  thoughts: number,
  total: number | null,
  flags: Set<Flag>,
): [input: number, output: number] {
  const [input, output] = [prompt + toolUse, candidates + thoughts];
  if (total === null || total === input + output) return [input, output];
  if (total === input + candidates && thoughts <= candidates) {
    flags.add("thoughts_inside_candidates");
    return [input, candidates];
  }
  if (total === prompt + output && toolUse <= prompt) {
    flags.add("tool_use_inside_prompt");
    return [prompt, output];
  }
  if (total > input + output) {
    flags.add("total_exceeds_sum");
    return [input, total - input];
  }
  flags.add("total_mismatch");
  return [input, output];
}

/** Tokens by modality, in capitals: `TEXT`, `IMAGE`, `AUDIO`, `VIDEO`, `DOCUMENT`. */
export type Modalities = Readonly<Record<string, number>>;

/**
 * Returns what a usage object tells of modalities; a kind that it tells nothing of is left out. null where it tells nothing at all, as that of
 * every API but Google's. They are weights, not counts: they often do not add up (docs/wire.md section 12).
 */
export function readModalities(usage: JsonObject): Partial<Record<TokenKind, Modalities>> | null {
  const names = namesOf(usage);
  let found: Partial<Record<TokenKind, Modalities>> | null = null;
  for (const kind of KINDS) {
    const details = readDetails(usage, names, kind);
    if (details.length === 0) continue;
    const sums: Record<string, number> = {};
    for (const { modality, tokens } of details) sums[modality] = (sums[modality] ?? 0) + tokens;
    (found ??= {})[kind] = sums;
  }
  return found;
}

/** Returns the count that the modalities of a kind are of; 0 where a usage object does not say. */
export function countOfKind(usage: JsonObject, kind: TokenKind): number {
  return countOf(usage, namesOf(usage), kind);
}

/** The lists by modality often do not add up to their count, which is right. */
function checkDetails(usage: JsonObject, names: UsageNames, flags: Set<Flag>): void {
  for (const kind of KINDS) {
    const details = readDetails(usage, names, kind);
    if (details.length === 0) continue;
    const sum = sumOf(details);
    const count = countOf(usage, names, kind);
    if (sum !== count) flags.add(sum < count ? "details_short" : "details_exceed");
  }
}

/** Modalities by their numbers, which clients of Google's older libraries ask for (`$alt=json;enum-encoding=int`). */
const MODALITIES: readonly (string | undefined)[] = [
  undefined,
  "TEXT",
  "IMAGE",
  "VIDEO",
  "AUDIO",
  "DOCUMENT",
];

/** Tokens of one modality: `TEXT`, `IMAGE`, `AUDIO`, `VIDEO`, `DOCUMENT`. */
interface Detail {
  modality: string;
  tokens: number;
}

function sumOf(details: readonly Detail[]): number {
  return details.reduce((sum, { tokens }) => sum + tokens, 0);
}

const NO_DETAILS: readonly unknown[] = [];

function readDetails(usage: JsonObject, names: UsageNames, kind: TokenKind): Detail[] {
  const name = names[kind].details.find((one) => Array.isArray(usage[one]));
  const list = name === undefined ? NO_DETAILS : (usage[name] as unknown[]);
  return list.filter(isObject).flatMap((detail: JsonObject) => {
    const { modality, [names.detail]: tokens } = detail;
    const word = typeof modality === "number" ? MODALITIES[modality] : asWord(modality);
    return word == null ? [] : [{ modality: word.toUpperCase(), tokens: asCount(tokens) ?? 0 }];
  });
}
