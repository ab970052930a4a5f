import { TEXT_BYTES, USAGE_BYTES, nothingLearned, usageStateOf } from "./dialect.ts";
import type { Answer, Dialect } from "./dialect.ts";
import { ERROR, errorTypeOf } from "./errors.ts";
import { fieldsOf, isFields, textOf, withoutSentences, wordOf } from "./fields.ts";
import type { Fields } from "./json/json-scan.ts";
import { BEDROCK_METRICS, MergedUsage } from "./messages/merged-usage.ts";
import { readIterations } from "./messages/iterations.ts";
import { readMessagesUsage, readServerTools } from "./messages/usage.ts";
import type { Flag, Outcome, Reading } from "./reading.ts";
import { hasInput, tokensOf } from "./tokens.ts";

/** What a `stop_reason` means for the outcome; all others, also those yet to come, are `completed`. */
const OUTCOMES: ReadonlyMap<string | null, Outcome> = new Map([
  ["max_tokens", "incomplete"],
  ["model_context_window_exceeded", "incomplete"],
  ["refusal", "refused"],
  ["pause_turn", "paused"],
  ["compaction", "paused"],
]);

/**
 * Messages (Anthropic-style): usage starts with `message_start` and is brought up to date by each `message_delta`.
 * Sources: usage.md sections 1.1 to 3.
 */
export const MESSAGES: Dialect = {
  event: {
    ...ERROR,
    type: TEXT_BYTES,
    message: { id: TEXT_BYTES, model: TEXT_BYTES, usage: USAGE_BYTES },
    content_block: { type: TEXT_BYTES, to: { model: TEXT_BYTES } },
    delta: { stop_reason: TEXT_BYTES },
    usage: USAGE_BYTES,
    [BEDROCK_METRICS]: TEXT_BYTES,
  },
  eventTypes: ["message_start", "content_block_start", "message_delta", "message_stop", "error"],
  body: { ...ERROR, id: TEXT_BYTES, model: TEXT_BYTES, stop_reason: TEXT_BYTES, usage: USAGE_BYTES },
  isContent: (type) => type === "content_block_delta",
  createAnswer: ({ inputIncludesCache }) => new MessagesAnswer(inputIncludesCache),
};

class MessagesAnswer implements Answer {
  readonly #inputIncludesCache: boolean;
  readonly #usage = new MergedUsage();
  readonly #flags = new Set<Flag>();
  #id: string | null = null;
  #model: string | null = null;
  #fallbackModel: string | null = null;
  #stop: string | null = null;
  #isEnded = false;
  #isStopped = false;
  #hasFailed = false;
  #errorType: string | null = null;

  constructor(inputIncludesCache: boolean) {
    this.#inputIncludesCache = inputIncludesCache;
  }

  takeEvent(type: string, fields: Fields): void {
    switch (type) {
      case "message_start":
        return this.#start(fieldsOf(fields["message"]));
      case "content_block_start":
        return this.#startBlock(fieldsOf(fields["content_block"]));
      case "message_delta":
        return this.#takeDelta(wordOf(fieldsOf(fields["delta"])["stop_reason"]), fieldsOf(fields["usage"]));
      case "message_stop":
        this.#isEnded = true;
        this.#isStopped = true;
        return this.#usage.takeMetrics(fieldsOf(fields[BEDROCK_METRICS]));
      case "error":
        return this.#fail(fields);
    }
  }

  takeBody(fields: Fields): void {
    if (isFields(fields["error"])) this.#fail(fields);
    this.#id = textOf(fields["id"]);
    this.#model = textOf(fields["model"]);
    this.#stop = wordOf(fields["stop_reason"]);
    this.#isEnded = !this.#hasFailed;
    this.#usage.takeLast(fieldsOf(fields["usage"]));
  }

  get isOver(): boolean {
    return this.#isStopped || this.#hasFailed;
  }

  learn(): Reading {
    const usage = withoutSentences(this.#usage.fields);
    const flags = new Set<Flag>([...this.#flags, ...this.#usage.flags]);
    const iterations = readIterations(usage["iterations"], this.#model, flags);
    const counts = readMessagesUsage(usage, iterations.lifetimes, this.#inputIncludesCache, flags);
    const tokens = tokensOf(counts, flags);
    const isExact = this.#isEnded && this.#usage.hasLastOutput && hasInput(counts);
    const reading = nothingLearned(this.#outcome(), usageStateOf(tokens, isExact));
    reading.stop = this.#stop;
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = iterations.servedModel ?? this.#fallbackModel ?? this.#model;
    reading.service_tier = textOf(usage["service_tier"]);
    reading.speed = textOf(usage["speed"]);
    reading.inference_geo = textOf(usage["inference_geo"]);
    reading.tokens = tokens;
    reading.extra = iterations.extra;
    reading.server_tools = readServerTools(fieldsOf(usage["server_tool_use"]));
    reading.raw_usage = Object.keys(usage).length > 0 ? usage : null;
    reading.flags = [...flags];
    return reading;
  }

  #outcome(): Outcome {
    if (this.#isEnded) return OUTCOMES.get(this.#stop) ?? "completed";
    return this.#hasFailed ? "error" : "cut";
  }

  #start(message: Fields): void {
    const id = textOf(message["id"]);
    if (this.#usage.hasStarted) this.#flags.add("duplicate_message_start");
    // Another message takes the place of the first: a gateway tried again.
    if (this.#usage.hasStarted && id !== this.#id) this.#forget();
    this.#id = id;
    this.#model = textOf(message["model"]) ?? this.#model;
    this.#usage.takeStart(fieldsOf(message["usage"]));
  }

  #forget(): void {
    this.#usage.forget();
    this.#fallbackModel = null;
    this.#stop = null;
    this.#isEnded = false;
  }

  #startBlock(block: Fields): void {
    if (block["type"] === "fallback") this.#fallbackModel = textOf(fieldsOf(block["to"])["model"]);
  }

  #takeDelta(stop: string | null, usage: Fields): void {
    this.#usage.takeLast(usage);
    if (stop === null) return;
    this.#stop = stop;
    this.#isEnded = true;
  }

  #fail(fields: Fields): void {
    this.#hasFailed = true;
    this.#errorType = errorTypeOf(fields);
  }
}
