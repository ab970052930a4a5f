import { isObject, type JsonObject } from "../../json.ts";
import { TEXT_BYTES, USAGE_BYTES, createReading, toUsageState } from "../usage-format.ts";
import type { CollectorSetup, SaidInHeaders, UntypedFormat, UsageCollector } from "../usage-format.ts";
import { readConverseUsage, readMetrics } from "./usage.ts";
import { EXCEPTION } from "./frame-scanner.ts";
import { asObject, asText, asWord, removeSentences } from "../fields.ts";
import { TEXT } from "../json/json-scanner.ts";
import { MESSAGES_DELTA, MESSAGES_FORMAT } from "../messages.ts";
import { BEDROCK_METRICS } from "../messages/merged-usage.ts";
import type { Flag, MeterReading, Outcome } from "../reading.ts";
import { hasInput, toTokens } from "../tokens.ts";

/** The outcome of each `stopReason`. All others are `completed`. */
const OUTCOMES: ReadonlyMap<string | null, Outcome> = new Map([
  ["max_tokens", "incomplete"],
  ["model_context_window_exceeded", "incomplete"],
  ["malformed_model_output", "incomplete"],
  ["malformed_tool_use", "incomplete"],
  ["content_filtered", "refused"],
  ["guardrail_intervened", "refused"],
]);

const CONVERSE_TEXTS = { toolUse: { input: TEXT }, reasoningContent: { text: TEXT } } as const;

/**
 * Amazon Bedrock (docs/wire.md section 14). Converse has one form for all models. What a model is invoked with, and what it responds, is
 * its maker's own: of Anthropic's it is the Messages API; of all others the metrics count that Bedrock adds, or its headers.
 */
export const BEDROCK_FORMAT: UntypedFormat = {
  event: {
    ...MESSAGES_FORMAT.event,
    delta: { ...MESSAGES_DELTA, ...CONVERSE_TEXTS },
    stopReason: TEXT_BYTES,
    serviceTier: { type: TEXT_BYTES },
    messageStop: { stopReason: TEXT_BYTES },
    contentBlockDelta: { delta: { text: TEXT, ...CONVERSE_TEXTS } },
    metadata: { usage: USAGE_BYTES },
    // Of Titan and of Llama.
    outputText: TEXT,
    generation: TEXT,
  },
  body: {
    ...MESSAGES_FORMAT.body,
    type: TEXT_BYTES,
    stopReason: TEXT_BYTES,
    serviceTier: { type: TEXT_BYTES },
  },
  hasLists: false,
  hasPlainChunks: false,
  hasBareErrors: false,
  hasFrames: true,
  createCollector: (setup) => new BedrockCollector(setup),
};

class BedrockCollector implements UsageCollector {
  readonly #said: SaidInHeaders | null;
  readonly #messages: UsageCollector;
  #isMessages = false;
  #hasContent = false;
  #stop: string | null = null;
  #tier: string | null = null;
  #usage: JsonObject | null = null;
  #metrics: JsonObject | null = null;
  /** What tells that all has come: the metadata of Converse, the metrics of other models, or a body. */
  #isEnded = false;
  /** Events of a maker's own have come, of which none is known to be the last. */
  #hasOwnEvents = false;
  #hasFailed = false;
  #errorType: string | null = null;

  constructor({ inputIncludesCache, said = null }: CollectorSetup) {
    this.#said = said;
    this.#messages = MESSAGES_FORMAT.createCollector({ inputIncludesCache });
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  get isFinished(): boolean {
    return this.#isMessages ? this.#messages.isFinished : this.#isEnded || this.#hasFailed;
  }

  addEvent(type: string, fields: JsonObject): void {
    switch (type) {
      case EXCEPTION:
        return this.#fail(asWord(fields["type"]));
      case "chunk":
        return this.#addChunk(fields);
      case "contentBlockDelta":
        this.#hasContent = true;
        return;
      case "messageStop":
        this.#stop = asWord(fields["stopReason"]);
        return;
      case "metadata":
        return this.#addMetadata(fields);
    }
  }

  addBody(fields: JsonObject): void {
    this.#isEnded = true;
    if (fields["type"] === "message" || fields["type"] === "error") {
      this.#isMessages = true;
      this.#messages.addBody(fields);
      return;
    }
    this.#stop = asWord(fields["stopReason"]) ?? asWord(fields["stop_reason"]);
    this.#addMetadata(fields);
  }

  toReading(isWhole: boolean, hasClientLeft: boolean): MeterReading {
    if (this.#isMessages) {
      const reading = this.#messages.toReading(isWhole, hasClientLeft);
      reading.service_tier ??= this.#said?.tier ?? null;
      if (this.#isAsked(reading.model)) reading.model = this.#said?.asked ?? null;
      if (reading.tokens !== null || !this.#isSaid) return reading;
    }
    return this.#read(this.#isEnded || (isWhole && this.#hasOwnEvents));
  }

  /** True for a maker's name of the model in the path. What stands there says in which regions it runs, too, which decides its price. */
  #isAsked(model: string | null): boolean {
    return model !== null && this.#said?.asked?.includes(model) === true;
  }

  /** True where the headers count something: of a response that is no stream. */
  get #isSaid(): boolean {
    return this.#said !== null && Object.keys(this.#said.counts).length > 0;
  }

  #read(isEnded: boolean): MeterReading {
    const flags = new Set<Flag>();
    // A guardrail may leave counts out of the model's own usage.
    const billed = this.#metrics ?? (this.#isSaid ? (this.#said?.counts ?? null) : null);
    const raw = removeSentences(billed ?? this.#usage ?? {});
    if (billed !== null) flags.add("bedrock_invocation_metrics");
    const counts = billed === null ? readConverseUsage(raw, flags) : readMetrics(raw);
    const tokens = toTokens(counts, flags);
    const isFinal = isEnded && !this.#hasFailed && hasInput(counts);
    const reading = createReading(this.#outcome(isEnded), toUsageState(tokens, isFinal, flags));
    reading.stop = this.#stop;
    reading.error_type = this.#errorType;
    reading.service_tier = this.#tier ?? this.#said?.tier ?? null;
    reading.tokens = tokens;
    reading.raw_usage = Object.keys(raw).length > 0 ? raw : null;
    reading.flags = [...flags];
    return reading;
  }

  #outcome(isEnded: boolean): Outcome {
    if (this.#hasFailed) return "error";
    return isEnded ? (OUTCOMES.get(this.#stop) ?? "completed") : "cut";
  }

  /** Adds an event of the model's own. */
  #addChunk(fields: JsonObject): void {
    const type = asText(fields["type"]);
    this.#isMessages ||= type === "message_start";
    this.#hasContent ||= type === null || MESSAGES_FORMAT.isContent(type);
    if (this.#isMessages) {
      if (type !== null && MESSAGES_FORMAT.eventTypes.includes(type)) this.#messages.addEvent(type, fields);
      return;
    }
    this.#hasOwnEvents = true;
    this.#stop = asWord(asObject(fields["messageStop"])["stopReason"]) ?? this.#stop;
    if (isObject(fields["metadata"])) this.#addMetadata(fields["metadata"]);
    const metrics = fields[BEDROCK_METRICS];
    if (!isObject(metrics)) return;
    this.#metrics = metrics;
    this.#isEnded = true;
  }

  /** The last event of Converse, and what is the same in a body. */
  #addMetadata(fields: JsonObject): void {
    if (isObject(fields["usage"]) && Object.hasOwn(fields["usage"], "inputTokens"))
      this.#usage = fields["usage"];
    this.#tier = asWord(asObject(fields["serviceTier"])["type"]) ?? this.#tier;
    this.#isEnded = true;
  }

  #fail(type: string | null): void {
    this.#hasFailed = true;
    this.#errorType = type;
    if (this.#isMessages) this.#messages.addEvent("error", { error: { type } });
  }
}
