import { isObject, type JsonObject } from "../json.ts";
import { TEXT_BYTES, USAGE_BYTES, createReading, toUsageState, withEarlier } from "./usage-format.ts";
import type { UntypedFormat, UsageCollector } from "./usage-format.ts";
import { TEXT } from "./json/json-scanner.ts";
import { readBill } from "./bill.ts";
import { CumulativeUsage } from "./chat/cumulative-usage.ts";
import { readTimings } from "./chat/timings.ts";
import { CHAT_ERROR_FIELDS, readErrorType } from "./errors.ts";
import { asCount, asObject, asText, asWord, removeSentences } from "./fields.ts";
import { callsOfModel, readReportedCalls } from "./hosted-calls.ts";
import { readInclusiveUsage } from "./inclusive-usage.ts";
import type { Flag, MeterReading, Outcome } from "./reading.ts";
import type { ChunkType } from "./sse/chunk-scanner.ts";
import { hasCounts } from "./sent-counts.ts";
import { hasInput, toTokens } from "./tokens.ts";

/** Keeps only values that are null or empty. All others are undefined, however long. */
const PRESENCE = 4;

/** Which choices are open is tracked for so many. */
const MAX_CHOICES = 128;

const CHUNK = {
  ...CHAT_ERROR_FIELDS,
  id: TEXT_BYTES,
  model: TEXT_BYTES,
  service_tier: TEXT_BYTES,
  usage: USAGE_BYTES,
  x_groq: { usage: USAGE_BYTES },
  timings: TEXT_BYTES,
};
/** Smaller than elsewhere, because there may be many. */
const CHOICE_USAGE_BYTES = 4 * 1024;
const CHOICE = { index: 16, finish_reason: TEXT_BYTES, usage: CHOICE_USAGE_BYTES };
const DELTA = {
  content: TEXT,
  reasoning_content: TEXT,
  reasoning: TEXT,
  refusal: TEXT,
  tool_calls: [{ function: { arguments: TEXT } }],
  function_call: { arguments: TEXT },
  audio: PRESENCE,
} as const;

/** The outcome of each `finish_reason`. All others are `completed`. Some gateways send an error's text as content. */
const OUTCOMES: ReadonlyMap<string | null, Outcome> = new Map([
  ["length", "incomplete"],
  ["content_filter", "incomplete"],
  ["error", "error"],
  ["error_finish", "error"],
]);

/**
 * Chat Completions, completions and embeddings (docs/wire.md section 7). Stream events have no type: usage may be in any chunk, in
 * one of three places, and after the end.
 */
export const CHAT_FORMAT: UntypedFormat = {
  event: { ...CHUNK, choices: [{ ...CHOICE, text: TEXT, delta: DELTA }] },
  body: { ...CHUNK, choices: [CHOICE] },
  hasLists: false,
  hasPlainChunks: true,
  hasBareErrors: false,
  createCollector: () => new ChatCollector(),
};

class ChatCollector implements UsageCollector {
  #hasContent = false;
  #id: string | null = null;
  #model: string | null = null;
  #tier: string | null = null;
  /** The finish reason of choice 0, else of another choice. */
  #stop: string | null = null;
  #isStopOfFirst = false;
  #hasChoices = false;
  readonly #open = new Set<number>();
  readonly #finished = new Set<number>();
  #isDone = false;
  #hasFailed = false;
  #errorType: string | null = null;
  #usage: CumulativeUsage | null = null;
  #timings: JsonObject | null = null;
  /** The last counts came in or after the chunk that finished, or in one without choices. */
  #isFinal = false;

  get hasContent(): boolean {
    return this.#hasContent;
  }

  addEvent(type: string, fields: JsonObject): void {
    switch (type as ChunkType) {
      case "done":
        this.#isDone = true;
        return;
      case "error":
        return this.#fail(fields);
      case "chunk":
        return this.#addChunk(fields);
    }
  }

  addBody(fields: JsonObject): void {
    this.#addChunk(fields);
    this.#isDone = true;
    this.#isFinal = true;
  }

  get isFinished(): boolean {
    return this.#isDone || this.#hasFailed || this.#hasFinished;
  }

  toReading(isWhole: boolean, hasClientLeft: boolean): MeterReading {
    const rawUsage = this.#usage === null ? null : removeSentences(this.#usage.fields);
    const flags = new Set<Flag>(this.#usage?.fallen.flags);
    const ofTimings = rawUsage === null ? readTimings(this.#timings ?? {}, flags) : null;
    const counts = ofTimings ?? readInclusiveUsage(rawUsage ?? {}, "chat", flags);
    const tokens = toTokens(counts, flags);
    const isExact = hasInput(counts) && (counts.output !== null || !this.#hasChoices);
    const isEnded = (this.#isDone || isWhole) && !this.#hasFailed;
    const isFinal = isExact && (this.#isFinal || isEnded) && (ofTimings === null || ofTimings.read !== null);
    const usage = toUsageState(tokens, isFinal, flags);
    const outcome = this.#outcome(isWhole || hasClientLeft, isFinal && tokens !== null);
    const reading = createReading(outcome, usage);
    reading.stop = this.#stop;
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = this.#model;
    reading.service_tier = this.#tier ?? asWord(rawUsage?.["service_tier"]);
    reading.tokens = tokens;
    reading.server_tools = {
      // Output proves that the model has run, also where no usage came.
      ...(tokens === null && !this.#hasContent ? {} : callsOfModel(this.#model)),
      ...readReportedCalls(rawUsage ?? {}),
    };
    reading.billed_usd = isFinal && rawUsage !== null ? readBill(rawUsage) : null;
    reading.raw_usage = rawUsage === null ? null : withEarlier(rawUsage, this.#usage?.fallen.earlier ?? null);
    reading.flags = [...flags];
    return reading;
  }

  /** `mayEnd`: the end of the stream may follow the finish reason. */
  #outcome(mayEnd: boolean, isFinal: boolean): Outcome {
    if (this.#hasFailed) return "error";
    const isOver = this.#isDone || isFinal || (mayEnd && this.#hasFinished);
    return isOver ? (OUTCOMES.get(this.#stop) ?? "completed") : "cut";
  }

  /** True when a choice has finished and no other is known to be unfinished. */
  get #hasFinished(): boolean {
    return this.#finished.size > 0 && this.#open.size === 0;
  }

  #addChunk(fields: JsonObject): void {
    if (isError(fields)) this.#fail(fields);
    const choices = Array.isArray(fields["choices"]) ? fields["choices"].filter(isObject) : [];
    const usage = findUsage(fields, choices);
    const timings = isObject(fields["timings"]) ? fields["timings"] : null;
    const isFinish = choices.some(({ finish_reason }) => asText(finish_reason) !== null);
    // The scanner skips such a chunk when it can, and what is read must not depend on that.
    const isOfFirst = Object.hasOwn(fields, "choices") && choices.every((choice) => indexOf(choice) === 0);
    const isPlain = isOfFirst && usage === null && timings === null && !isFinish;
    if (isPlain && this.#hasContent) return;
    this.#hasContent ||= choices.some(hasOutput);
    this.#id ??= asText(fields["id"]);
    this.#model = asText(fields["model"]) ?? this.#model;
    this.#tier = asWord(fields["service_tier"]) ?? this.#tier;
    for (const choice of choices) this.#addChoice(choice);
    if (usage !== null) this.#addUsage(usage);
    if (timings !== null) this.#timings = timings;
    if ((usage !== null && hasCounts(usage, "chat")) || timings !== null)
      this.#isFinal = choices.length === 0 || this.#hasFinished;
  }

  #addChoice(choice: JsonObject): void {
    const index = indexOf(choice);
    const reason = asText(choice["finish_reason"]);
    this.#hasChoices = true;
    // Choices are numbered from 0, and chunks of the first may be skipped.
    this.#begin(0);
    this.#begin(index);
    if (reason === null) return;
    this.#open.delete(index);
    if (this.#finished.size < MAX_CHOICES) this.#finished.add(index);
    if (index !== 0 && this.#isStopOfFirst) return;
    this.#stop = asWord(reason);
    this.#isStopOfFirst = index === 0;
  }

  /** A choice that begins after counts proves that these were interim. */
  #begin(index: number): void {
    if (this.#open.has(index) || this.#finished.has(index) || this.#open.size >= MAX_CHOICES) return;
    this.#open.add(index);
    this.#isFinal = false;
  }

  #addUsage(usage: JsonObject): void {
    if (this.#usage === null) this.#usage = new CumulativeUsage(usage);
    else this.#usage.add(usage);
  }

  #fail(fields: JsonObject): void {
    this.#hasFailed = true;
    this.#errorType = readErrorType(fields);
  }
}

function indexOf(choice: JsonObject): number {
  return asCount(choice["index"]) ?? 0;
}

/** SDKs take any error that is not empty for one. A long text in its place is undefined here. */
function isError(fields: JsonObject): boolean {
  if (fields["object"] === "error" && !Object.hasOwn(fields, "choices")) return true;
  const { error } = fields;
  return Object.hasOwn(fields, "error") && (error === undefined || Boolean(error));
}

/**
 * Returns the usage object of a chunk or body. There may be three: they say the same, or the others are filled with zeros, or there is one.
 */
function findUsage(fields: JsonObject, choices: JsonObject[]): JsonObject | null {
  const { usage } = fields;
  if (isObject(usage) && hasCounts(usage, "chat")) return usage;
  const ofGroq = asObject(fields["x_groq"])["usage"];
  const ofChoice = choices.findLast((choice) => isObject(choice["usage"]))?.["usage"];
  const found = [usage, ofGroq, ofChoice].filter(isObject);
  return found.find((one) => hasCounts(one, "chat")) ?? found[0] ?? null;
}

/** True when a streamed choice has some of the model's output: anything that is neither null nor empty. */
function hasOutput(choice: JsonObject): boolean {
  const delta = asObject(choice["delta"]);
  for (const name in delta) if (isPresent(delta[name])) return true;
  return Object.hasOwn(choice, "text") && isPresent(choice["text"]);
}

function isPresent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value === undefined || (value !== null && value !== "");
}
