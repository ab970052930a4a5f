import { isObject, type JsonObject } from "../json.ts";
import { MAX_EXTRA, TEXT_BYTES, USAGE_BYTES, createReading, toUsageState } from "./usage-format.ts";
import type { TypedFormat, UsageCollector } from "./usage-format.ts";
import { readBill } from "./bill.ts";
import { ERROR_FIELDS, readErrorType } from "./errors.ts";
import { asCount, asObject, asText, removeSentences, asWord } from "./fields.ts";
import { readResponsesUsage } from "./responses/usage.ts";
import type { Selection } from "./json/json-scanner.ts";
import type { ExtraTokens, Flag, Outcome, MeterReading } from "./reading.ts";
import { toTokenClasses, hasInput, toTokens } from "./tokens.ts";

const RESPONSE: Selection = {
  ...ERROR_FIELDS,
  id: TEXT_BYTES,
  model: TEXT_BYTES,
  status: TEXT_BYTES,
  background: 16,
  service_tier: TEXT_BYTES,
  incomplete_details: { reason: TEXT_BYTES },
  usage: USAGE_BYTES,
  tool_usage: USAGE_BYTES,
};

/** The events that end a stream, and their outcomes. */
const TERMINAL: ReadonlyMap<string, Outcome> = new Map([
  ["response.completed", "completed"],
  ["response.incomplete", "incomplete"],
  ["response.failed", "failed"],
  ["response.cancelled", "cancelled"],
]);

/** Values of `response.status`, which are also outcomes. */
const STATUSES: readonly Outcome[] = [
  "completed",
  "incomplete",
  "failed",
  "cancelled",
  "queued",
  "in_progress",
];

/**
 * The Responses API (OpenAI style): usage comes once, with the terminal event or in the body (docs/wire.md section 6). Error
 * events are flat or nested (https://github.com/openai/openai-dotnet/issues/881).
 */
export const RESPONSES_FORMAT: TypedFormat = {
  event: { ...ERROR_FIELDS, type: TEXT_BYTES, response: RESPONSE },
  eventTypes: ["response.created", "response.queued", "response.in_progress", ...TERMINAL.keys(), "error"],
  body: RESPONSE,
  isContent: (type) => type.endsWith(".delta"),
  createCollector: () => new ResponsesCollector(),
};

class ResponsesCollector implements UsageCollector {
  readonly hasContent = false;
  /** The latest values of any response object. */
  #id: string | null = null;
  #model: string | null = null;
  #serviceTier: string | null = null;
  #isBackground = false;
  /** The response object of the body or of the terminal event. */
  #last: JsonObject | null = null;
  #outcome: Outcome = "cut";
  #errorType: string | null = null;

  addEvent(type: string, fields: JsonObject): void {
    if (type === "error") this.#fail(fields);
    else this.#addResponse(asObject(fields["response"]), TERMINAL.get(type) ?? null);
  }

  addBody(fields: JsonObject): void {
    const status = STATUSES.find((candidate) => candidate === fields["status"]);
    if (status === undefined && isObject(fields["error"])) this.#fail(fields);
    // Responses of `/responses/compact` have no status.
    else this.#addResponse(fields, status ?? "completed");
  }

  get isFinished(): boolean {
    return this.#last !== null || this.#outcome === "error";
  }

  toReading(): MeterReading {
    const last = this.#isPending ? {} : (this.#last ?? {});
    const rawUsage = isObject(last["usage"]) ? removeSentences(last["usage"]) : null;
    const flags = new Set<Flag>();
    const counts = readResponsesUsage(rawUsage ?? {}, flags);
    const tokens = toTokens(counts, flags);
    const isFinal = hasInput(counts) && counts.output !== null;
    const toolUsage = Object.entries(removeSentences(asObject(last["tool_usage"]))).slice(0, MAX_EXTRA);
    const reading = createReading(this.#outcome, this.#isPending ? "pending" : toUsageState(tokens, isFinal));
    reading.stop = asWord(asObject(last["incomplete_details"])["reason"]);
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = this.#model;
    reading.service_tier = this.#serviceTier;
    reading.tokens = tokens;
    reading.extra = toolUsage.flatMap(([name, usage]) => readToolTokens(name, asObject(usage)));
    const calls = toolUsage.flatMap(([name, usage]) => readToolCalls(name, asObject(usage)));
    reading.server_tools = Object.fromEntries(calls);
    reading.billed_usd = isFinal && rawUsage !== null ? readBill(rawUsage) : null;
    reading.raw_usage = rawUsage;
    reading.flags = [...flags];
    return reading;
  }

  #fail(fields: JsonObject): void {
    this.#errorType = readErrorType(fields);
    if (this.#last === null) this.#outcome = "error";
  }

  #addResponse(response: JsonObject, end: Outcome | null): void {
    this.#id = asText(response["id"]) ?? this.#id;
    this.#model = asText(response["model"]) ?? this.#model;
    this.#serviceTier = asWord(response["service_tier"]) ?? this.#serviceTier;
    if (typeof response["background"] === "boolean") this.#isBackground = response["background"];
    if (end === null) return;
    this.#last = response;
    this.#outcome = end;
    if (isObject(response["error"])) this.#errorType = readErrorType(response);
  }

  /** True for a background response that is still running. Only a later fetch of the same id brings its usage. */
  get #isPending(): boolean {
    const isUnfinished = this.#outcome === "queued" || this.#outcome === "in_progress";
    return isUnfinished || (this.#outcome === "cut" && this.#isBackground);
  }
}

/** Reads the calls of one of the service's tools, e.g. `web_search.num_requests`. Leaves out tools that were not called. */
function readToolCalls(name: string, usage: JsonObject): [string, number][] {
  const calls = asCount(usage["num_requests"]) ?? 0;
  return calls > 0 ? [[name, calls]] : [];
}

/** Reads the tokens of one of the service's tools, e.g. `image_gen`. They are billed in addition to the response's usage. */
function readToolTokens(type: string, usage: JsonObject): ExtraTokens[] {
  const uncached = asCount(usage["input_tokens"]) ?? 0;
  const output = asCount(usage["output_tokens"]) ?? 0;
  if (uncached + output === 0) return [];
  const counts = { uncached, read: null, write: null, lifetimes: null, output, reasoning: null };
  return [{ type, model: null, ...toTokenClasses(counts, new Set()), billable: true }];
}
