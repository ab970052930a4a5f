import { isObject, type JsonObject } from "../json.ts";
import { TEXT_BYTES, USAGE_BYTES, createReading, toUsageState, withEarlier } from "./usage-format.ts";
import type { TypedFormat, UsageCollector } from "./usage-format.ts";
import { readBill } from "./bill.ts";
import { ERROR_FIELDS, readErrorType } from "./errors.ts";
import { readMessagesDiagnostics, MESSAGES_DIAGNOSTICS, type SaidMiss } from "../misses/diagnostics.ts";
import { asObject, asText, removeSentences, asWord } from "./fields.ts";
import { TEXT, type Selection } from "./json/json-scanner.ts";
import { CONTENT_BLOCK, ListedCalls, readServerTools } from "./hosted-calls.ts";
import { BEDROCK_METRICS, MergedUsage } from "./messages/merged-usage.ts";
import { readIterations } from "./messages/iterations.ts";
import { readMessagesUsage } from "./messages/usage.ts";
import type { Flag, Outcome, MeterReading } from "./reading.ts";
import { hasInput, toTokens } from "./tokens.ts";

/** The outcome of each `stop_reason`. All others, including future ones, are `completed`. */
const OUTCOMES: ReadonlyMap<string | null, Outcome> = new Map([
  ["max_tokens", "incomplete"],
  ["model_context_window_exceeded", "incomplete"],
  ["refusal", "refused"],
  ["pause_turn", "paused"],
  ["compaction", "paused"],
]);

/** What to read of the `delta` of an event. */
export const MESSAGES_DELTA = {
  stop_reason: TEXT_BYTES,
  text: TEXT,
  partial_json: TEXT,
  thinking: TEXT,
  diagnostics: MESSAGES_DIAGNOSTICS,
} satisfies Selection;

/** The Messages API: `message_start` has first counts, each `message_delta` updates them (docs/wire.md section 5). */
export const MESSAGES_FORMAT: TypedFormat = {
  event: {
    ...ERROR_FIELDS,
    type: TEXT_BYTES,
    message: { id: TEXT_BYTES, model: TEXT_BYTES, usage: USAGE_BYTES, diagnostics: MESSAGES_DIAGNOSTICS },
    content_block: { ...CONTENT_BLOCK, to: { model: TEXT_BYTES } },
    delta: MESSAGES_DELTA,
    usage: USAGE_BYTES,
    [BEDROCK_METRICS]: TEXT_BYTES,
  },
  eventTypes: ["message_start", "content_block_start", "message_delta", "message_stop", "error"],
  body: {
    ...ERROR_FIELDS,
    id: TEXT_BYTES,
    model: TEXT_BYTES,
    stop_reason: TEXT_BYTES,
    content: [CONTENT_BLOCK],
    usage: USAGE_BYTES,
    diagnostics: MESSAGES_DIAGNOSTICS,
  },
  texts: [
    ["text", 2],
    ["partial_json", 2],
    ["thinking", 2],
  ],
  hasLists: false,
  isContent: (type) => type === "content_block_delta",
  createCollector: ({ inputIncludesCache }) => new MessagesCollector(inputIncludesCache),
};

class MessagesCollector implements UsageCollector {
  readonly hasContent = false;
  readonly #inputIncludesCache: boolean;
  readonly #usage = new MergedUsage();
  readonly #flags = new Set<Flag>();
  readonly #listed = new ListedCalls();
  #id: string | null = null;
  #model: string | null = null;
  #fallbackModel: string | null = null;
  #stop: string | null = null;
  /** The stop reason, `message_stop` or a whole body has arrived. */
  #isEnded = false;
  /** `message_stop` has arrived. */
  #isStopped = false;
  #hasFailed = false;
  #errorType: string | null = null;
  #miss: SaidMiss | null = null;

  constructor(inputIncludesCache: boolean) {
    this.#inputIncludesCache = inputIncludesCache;
  }

  addEvent(type: string, fields: JsonObject): void {
    switch (type) {
      case "message_start":
        return this.#startMessage(asObject(fields["message"]));
      case "content_block_start":
        return this.#startBlock(asObject(fields["content_block"]));
      case "message_delta":
        return this.#addDelta(asObject(fields["delta"]), asObject(fields["usage"]));
      case "message_stop":
        this.#isEnded = true;
        this.#isStopped = true;
        return this.#usage.mergeMetrics(asObject(fields[BEDROCK_METRICS]));
      case "error":
        return this.#fail(fields);
    }
  }

  addBody(fields: JsonObject): void {
    if (isObject(fields["error"])) this.#fail(fields);
    this.#id = asText(fields["id"]);
    this.#model = asText(fields["model"]);
    this.#stop = asWord(fields["stop_reason"]);
    this.#isEnded = !this.#hasFailed;
    this.#usage.mergeLater(asObject(fields["usage"]));
    this.#addDiagnostics(fields["diagnostics"]);
    const { content } = fields;
    if (Array.isArray(content)) for (const block of content) this.#listed.addBlock(asObject(block));
  }

  get isFinished(): boolean {
    return this.#isStopped || this.#hasFailed;
  }

  toReading(): MeterReading {
    const usage = removeSentences(this.#usage.fields);
    const flags = new Set<Flag>([...this.#flags, ...this.#usage.flags]);
    const iterations = readIterations(usage["iterations"], this.#model, flags);
    const counts = readMessagesUsage(usage, iterations.lifetimes, this.#inputIncludesCache, flags);
    const tokens = toTokens(counts, flags);
    const isFinal = this.#isEnded && this.#usage.hasFinalOutput && hasInput(counts);
    const reading = createReading(this.#outcome(), toUsageState(tokens, isFinal, flags));
    reading.stop = this.#stop;
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = iterations.servedModel ?? this.#fallbackModel ?? this.#model;
    reading.service_tier = asText(usage["service_tier"]);
    reading.speed = asText(usage["speed"]);
    reading.inference_geo = asText(usage["inference_geo"]);
    reading.tokens = tokens;
    reading.extra = iterations.extra;
    const calls = readServerTools(asObject(usage["server_tool_use"]));
    reading.server_tools = this.#isEnded
      ? this.#listed.addToMessage(calls)
      : this.#listed.addToCutMessage(calls);
    reading.billed_usd = isFinal ? readBill(usage) : null;
    reading.raw_usage = Object.keys(usage).length > 0 ? withEarlier(usage, this.#usage.earlier) : null;
    reading.flags = [...flags];
    if (this.#miss !== null) Object.assign(reading, this.#miss);
    return reading;
  }

  #outcome(): Outcome {
    if (this.#isEnded) return OUTCOMES.get(this.#stop) ?? "completed";
    return this.#hasFailed ? "error" : "cut";
  }

  #startMessage(message: JsonObject): void {
    const id = asText(message["id"]);
    if (this.#usage.hasStarted) this.#flags.add("duplicate_message_start");
    // A gateway retried: another message replaces the first.
    if (this.#usage.hasStarted && id !== this.#id) {
      this.#usage.reset();
      this.#listed.reset();
      this.#fallbackModel = null;
      this.#stop = null;
      this.#isEnded = false;
      this.#miss = null;
    }
    this.#id = id;
    this.#model = asText(message["model"]) ?? this.#model;
    this.#usage.mergeStart(asObject(message["usage"]));
    this.#addDiagnostics(message["diagnostics"]);
  }

  #startBlock(block: JsonObject): void {
    this.#listed.addBlock(block);
    if (block["type"] === "fallback") this.#fallbackModel = asText(asObject(block["to"])["model"]);
  }

  #addDelta(delta: JsonObject, usage: JsonObject): void {
    this.#usage.mergeLater(usage);
    this.#addDiagnostics(delta["diagnostics"]);
    const stop = asWord(delta["stop_reason"]);
    if (stop === null) return;
    this.#stop = stop;
    this.#isEnded = true;
  }

  /** The comparison may end after the stream has begun: a later reason counts, and an absent one replaces none. */
  #addDiagnostics(diagnostics: unknown): void {
    this.#miss = readMessagesDiagnostics(asObject(diagnostics)) ?? this.#miss;
  }

  #fail(fields: JsonObject): void {
    this.#hasFailed = true;
    this.#errorType = readErrorType(fields);
  }
}
