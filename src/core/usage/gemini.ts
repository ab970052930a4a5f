import { isObject, type JsonObject } from "../json.ts";
import { asCount, asObject, asText, asWord, removeSentences } from "./fields.ts";
import { ERROR_FIELDS, readErrorType } from "./errors.ts";
import { GROUNDING, SEARCH_STEP, Searches } from "./gemini/searches.ts";
import { readResourceId } from "./gemini/resource-id.ts";
import { isCounting, isZero, readGeminiUsage } from "./gemini/usage.ts";
import { MAX_ELEMENTS, TEXT, type Selection } from "./json/json-scanner.ts";
import { PICTURE, type Flag, type MeterReading, type Outcome } from "./reading.ts";
import type { ChunkType } from "./sse/chunk-scanner.ts";
import { toTokens } from "./tokens.ts";
import { TEXT_BYTES, USAGE_BYTES, chargeByNumber, createReading, toUsageState } from "./usage-format.ts";
import type { UntypedFormat, UsageCollector } from "./usage-format.ts";

const CANDIDATE: Selection = {
  index: 16,
  finishReason: TEXT_BYTES,
  content: { parts: [{ text: TEXT }] },
  groundingMetadata: GROUNDING,
};

/** A response of `generateContent`, or a chunk of `streamGenerateContent`. */
const RESPONSE: Selection = {
  ...ERROR_FIELDS,
  candidates: [CANDIDATE],
  promptFeedback: { blockReason: TEXT_BYTES },
  usageMetadata: USAGE_BYTES,
  modelVersion: TEXT_BYTES,
  responseId: TEXT_BYTES,
};

/** A response of the Interactions API, which the last event of a stream has in it. */
const INTERACTION: Selection = {
  id: TEXT_BYTES,
  model: TEXT_BYTES,
  status: TEXT_BYTES,
  service_tier: TEXT_BYTES,
  usage: USAGE_BYTES,
  steps: [SEARCH_STEP],
};

/** The end of an interaction, by its status. */
const STATUSES: ReadonlyMap<unknown, Outcome> = new Map([
  ["completed", "completed"],
  // The client is to run a tool.
  ["requires_action", "completed"],
  ["incomplete", "incomplete"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
]);

/**
 * What Vertex calls the tiers (npm `@google/genai`, `TrafficType`), and their numbers; the Gemini API has the other names. All others are
 * only written in lower case.
 */
const TIERS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  ["ON_DEMAND", "standard"],
  [1, "standard"],
  ["ON_DEMAND_FLEX", "flex"],
  ["ON_DEMAND_PRIORITY", "priority"],
  [2, "provisioned_throughput"],
]);

/** Returns the tier as it was served; null where a usage object does not say. */
function readTier({ serviceTier, trafficType }: JsonObject): string | null {
  const known = TIERS.get(trafficType);
  const word = asWord(serviceTier) ?? asWord(trafficType);
  return known ?? (word === null || word.endsWith("_UNSPECIFIED") ? null : word.toLowerCase());
}

/**
 * Reasons by their numbers, as far as both of Google's services have the same; clients of its older libraries ask for numbers
 * (`$alt=json;enum-encoding=int`).
 */
const FINISH_REASONS: readonly (string | undefined)[] = [
  undefined,
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "OTHER",
];
const BLOCK_REASONS: readonly (string | undefined)[] = [
  undefined,
  "SAFETY",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
];

/** Returns a reason as a word; null where there is none. One that is unknown is its number, a sentence is `OTHER`. */
function asReason(value: unknown, names: readonly (string | undefined)[]): string | null {
  if (typeof value === "number") return value === 0 ? null : (names[value] ?? asWord(String(value)));
  const reason = asText(value);
  return reason === null || reason.endsWith("_UNSPECIFIED") ? null : (asWord(reason) ?? "OTHER");
}

/** `modelVersion` has it before the name in some responses. */
const MODELS = "models/";

/** Returns the name of a model without what may stand before it. */
export function withoutModels(model: string | null): string | null {
  return model?.startsWith(MODELS) === true ? model.slice(MODELS.length) : model;
}

/** The name of an operation that makes something, such as a film. */
const OPERATION = /(?:^|\/)operations\/[^/]+$/;

/** The name of a cached content. Its `usageMetadata` says what is stored, which is no usage of the request. */
const CACHED_CONTENT = /(?:^|\/)cachedContents\/[^/]+$/;

/** What storing one is called among the service's tools: it costs something for each hour, which no record tells. */
const CACHE_STORAGE = "cache_storage";

/**
 * Google's API: `generateContent`, its stream in both forms, embeddings and interactions (docs/wire.md section 12). Nearly every chunk of
 * a stream has usage, and the last one counts. Code Assist wraps each in `response`.
 */
export const GEMINI_FORMAT: UntypedFormat = {
  event: {
    ...RESPONSE,
    response: RESPONSE,
    interaction: INTERACTION,
    step: SEARCH_STEP,
    delta: { text: TEXT },
  },
  body: {
    ...RESPONSE,
    ...INTERACTION,
    response: RESPONSE,
    name: TEXT_BYTES,
    predictions: [{ embeddings: { statistics: { token_count: 16 } }, mimeType: TEXT_BYTES }],
  },
  hasLists: true,
  hasPlainChunks: false,
  hasBareErrors: true,
  createCollector: () => new GeminiCollector(),
};

function isPicture({ mimeType }: JsonObject): boolean {
  return asText(mimeType)?.startsWith("image/") === true;
}

class GeminiCollector implements UsageCollector {
  #hasContent = false;
  #id: string | null = null;
  #model: string | null = null;
  #tier: string | null = null;
  /** The finish reason of candidate 0, else of another one; the status of an interaction. */
  #stop: string | null = null;
  #isStopOfFirst = false;
  #blockReason: string | null = null;
  /** The outcome of an interaction that has ended. */
  #interaction: Outcome | null = null;
  /** The body is an interaction that is still running. */
  #isPending = false;
  #hasFailed = false;
  #errorType: string | null = null;
  /** The last object that counts: each replaces the one before, whole. */
  #usage: JsonObject | null = null;
  /** It came with the finish reason, or after it. */
  #isCountedAtStop = false;
  /** The body is a cached content. */
  #isStored = false;
  /** How many pictures Imagen has made. One that was withheld has a reason in place of a type, and is not billed. */
  #pictures = 0;
  readonly #flags = new Set<Flag>();
  readonly #searches = new Searches();
  #isDone = false;

  get hasContent(): boolean {
    return this.#hasContent;
  }

  get isFinished(): boolean {
    return this.#isDone || this.#hasFailed || this.#interaction !== null || this.#isCountedAtStop;
  }

  addEvent(type: string, fields: JsonObject): void {
    if ((type as ChunkType) === "done") {
      this.#isDone = true;
      return;
    }
    this.#addResponse(fields);
    if (isObject(fields["response"])) this.#addResponse(fields["response"]);
    this.#searches.addStep(asObject(fields["step"]));
    this.#hasContent ||= Object.hasOwn(fields, "delta");
    const { interaction } = fields;
    if (!isObject(interaction)) return;
    this.#addInteraction(interaction);
  }

  addBody(fields: JsonObject): void {
    this.#isDone = true;
    if (OPERATION.test(asText(fields["name"]) ?? "")) this.#id = readResourceId(fields["name"]);
    if (CACHED_CONTENT.test(asText(fields["name"]) ?? "")) {
      this.#isStored = true;
      this.#id = readResourceId(fields["name"]);
      return;
    }
    this.#addResponse(fields);
    if (isObject(fields["response"])) this.#addResponse(fields["response"]);
    else {
      this.#addInteraction(fields);
      this.#isPending = fields["status"] === "in_progress";
    }
    this.#addPredictions(fields["predictions"]);
  }

  toReading(isWhole: boolean, hasClientLeft: boolean): MeterReading {
    const rawUsage = this.#usage === null ? null : removeSentences(this.#usage);
    const flags = new Set(this.#flags);
    const tokens = toTokens(readGeminiUsage(rawUsage ?? {}, flags), flags);
    if (this.#searches.isCut) flags.add("extra_cut_short");
    const isEnded = this.#isEnded(isWhole, hasClientLeft);
    const isFinal = isEnded && !this.#hasFailed;
    const state = this.#isPending ? "pending" : toUsageState(tokens, isFinal, flags);
    const reading = createReading(this.#outcome(isEnded), state);
    reading.stop = this.#stop ?? this.#blockReason;
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = this.#model;
    reading.service_tier = this.#tier;
    reading.tokens = this.#isPending ? null : tokens;
    reading.server_tools = this.#isStored ? { [CACHE_STORAGE]: 1 } : this.#searches.calls;
    reading.raw_usage = rawUsage;
    reading.flags = [...flags];
    if (tokens === null && this.#pictures > 0 && !this.#hasFailed)
      chargeByNumber(reading, PICTURE, this.#pictures);
    return reading;
  }

  /** A stream has no last event, unless it is one of interactions. A client may leave as soon as the model has stopped. */
  #isEnded(isWhole: boolean, hasClientLeft: boolean): boolean {
    return this.#isDone || isWhole || this.#interaction !== null || (hasClientLeft && this.#isCountedAtStop);
  }

  #outcome(isEnded: boolean): Outcome {
    if (this.#hasFailed) return "error";
    if (!isEnded) return "cut";
    if (this.#isPending) return "in_progress";
    if (this.#interaction !== null) return this.#interaction;
    // Not every response has a reason. All others than STOP withhold something (docs/wire.md section 12).
    const reason = this.#stop ?? this.#blockReason;
    return reason === null || reason === "STOP" ? "completed" : "incomplete";
  }

  #addResponse(fields: JsonObject): void {
    if (Object.hasOwn(fields, "error") && fields["error"] !== null) {
      this.#hasFailed = true;
      this.#errorType = readErrorType(fields);
    }
    this.#id = asText(fields["responseId"]) ?? this.#id;
    this.#model = withoutModels(asText(fields["modelVersion"])) ?? this.#model;
    const { blockReason } = asObject(fields["promptFeedback"]);
    this.#blockReason = asReason(blockReason, BLOCK_REASONS) ?? this.#blockReason;
    const { candidates } = fields;
    if (Array.isArray(candidates))
      for (const candidate of candidates) this.#addCandidate(asObject(candidate));
    if (isObject(fields["usageMetadata"])) this.#addUsage(fields["usageMetadata"]);
  }

  #addCandidate(candidate: JsonObject): void {
    this.#hasContent ||= isObject(candidate["content"]);
    this.#searches.addGrounding(asObject(candidate["groundingMetadata"]));
    const reason = asReason(candidate["finishReason"], FINISH_REASONS);
    const index = asCount(candidate["index"]) ?? 0;
    if (reason === null || (index !== 0 && this.#isStopOfFirst)) return;
    this.#stop = reason;
    this.#isStopOfFirst = index === 0;
  }

  #addInteraction(fields: JsonObject): void {
    const { status } = fields;
    const outcome = STATUSES.get(status);
    this.#id = asText(fields["id"]) ?? this.#id;
    this.#model = withoutModels(asText(fields["model"])) ?? this.#model;
    this.#tier = asWord(fields["service_tier"]) ?? this.#tier;
    if (outcome !== undefined) {
      this.#interaction = outcome;
      this.#stop = asWord(status);
    }
    if (Array.isArray(fields["steps"]))
      for (const step of fields["steps"]) this.#searches.addStep(asObject(step));
    if (isObject(fields["usage"])) this.#addUsage(fields["usage"]);
  }

  /** Embeddings of Vertex's `predict` are counted one by one, and so are pictures. */
  #addPredictions(predictions: unknown): void {
    if (!Array.isArray(predictions)) return;
    this.#pictures = predictions.filter((one) => isPicture(asObject(one))).length;
    const counts = predictions.flatMap((one) => {
      const statistics = asObject(asObject(asObject(one)["embeddings"])["statistics"]);
      return asCount(statistics["token_count"]) ?? [];
    });
    if (counts.length === 0) return;
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    if (predictions.length >= MAX_ELEMENTS) this.#flags.add("extra_cut_short");
    this.#usage = { token_count: tokens };
  }

  #addUsage(usage: JsonObject): void {
    this.#tier = readTier(usage) ?? this.#tier;
    if (!isCounting(usage)) return;
    if (this.#usage !== null && isZero(usage) && !isZero(this.#usage)) {
      this.#flags.add("delta_zero_placeholder");
      return;
    }
    this.#usage = usage;
    this.#isCountedAtStop = this.#stop !== null;
  }
}
