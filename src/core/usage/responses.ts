import { isObject, type JsonObject } from "../json.ts";
import { MAX_EXTRA, TEXT_BYTES, USAGE_BYTES, createReading, toUsageState } from "./usage-format.ts";
import type { TypedFormat, UsageCollector } from "./usage-format.ts";
import { readBill } from "./bill.ts";
import { ERROR_FIELDS, readErrorType } from "./errors.ts";
import { readResponsesDiagnostics, RESPONSES_DIAGNOSTICS } from "../misses/diagnostics.ts";
import { asCount, asObject, asText, removeSentences, asWord } from "./fields.ts";
import { ListedCalls, OUTPUT_ITEM, readReportedCalls, type Calls } from "./hosted-calls.ts";
import { readInclusiveUsage } from "./inclusive-usage.ts";
import { MAX_ELEMENTS, TEXT, type Selection } from "./json/json-scanner.ts";
import type { ExtraTokens, Flag, Outcome, MeterReading } from "./reading.ts";
import { toTokenClasses, hasInput, toTokens } from "./tokens.ts";

/** Has in its output what earlier responses had. */
const COMPACTION = "response.compaction";

const ITEM_DONE = "response.output_item.done";

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
  object: TEXT_BYTES,
  output: [OUTPUT_ITEM],
  prompt_cache_diagnostics: RESPONSES_DIAGNOSTICS,
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
  event: { ...ERROR_FIELDS, type: TEXT_BYTES, response: RESPONSE, item: OUTPUT_ITEM, delta: TEXT },
  eventTypes: [
    "response.created",
    "response.queued",
    "response.in_progress",
    ITEM_DONE,
    ...TERMINAL.keys(),
    "error",
  ],
  body: RESPONSE,
  texts: [["delta", 1]],
  hasLists: false,
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
  /** The calls of the items that a stream has finished. */
  readonly #listed = new ListedCalls();
  #outcome: Outcome = "cut";
  #errorType: string | null = null;

  addEvent(type: string, fields: JsonObject): void {
    if (type === "error") this.#fail(fields);
    else if (type === ITEM_DONE) this.#listed.addItem(asObject(fields["item"]));
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
    const counts = readInclusiveUsage(rawUsage ?? {}, "responses", flags);
    const tokens = toTokens(counts, flags);
    const isFinal = hasInput(counts) && counts.output !== null;
    const toolUsage = Object.entries(removeSentences(asObject(last["tool_usage"]))).slice(0, MAX_EXTRA);
    const calls = this.#isPending ? {} : this.#readCalls(last, rawUsage ?? {}, toolUsage, flags);
    const state = this.#isPending ? "pending" : toUsageState(tokens, isFinal, flags);
    const reading = createReading(this.#outcome, state);
    reading.stop = asWord(asObject(last["incomplete_details"])["reason"]);
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = this.#model;
    reading.service_tier = this.#serviceTier;
    reading.tokens = tokens;
    reading.extra = toolUsage.flatMap(([name, usage]) => readToolTokens(name, asObject(usage)));
    reading.server_tools = calls;
    reading.billed_usd = isFinal && rawUsage !== null ? readBill(rawUsage) : null;
    reading.raw_usage = rawUsage;
    reading.flags = [...flags];
    const miss = readResponsesDiagnostics(asObject(last["prompt_cache_diagnostics"]));
    if (miss !== null) Object.assign(reading, miss);
    return reading;
  }

  /** Returns the calls of tools that the service ran: what its usage reports, and what its output proves. */
  #readCalls(last: JsonObject, usage: JsonObject, toolUsage: ToolUsage, flags: Set<Flag>): Calls {
    const reported = readReportedCalls(usage);
    for (const [name, tool] of toolUsage) {
      const calls = asCount(asObject(tool)["num_requests"]);
      if (calls !== null) reported[name] = calls;
    }
    const listed = new ListedCalls();
    const output = Array.isArray(last["output"]) && last["object"] !== COMPACTION ? last["output"] : [];
    for (const item of output) listed.addItem(asObject(item));
    listed.atLeast(this.#listed);
    if (output.length >= MAX_ELEMENTS) flags.add("extra_cut_short");
    const calls = listed.addTo(reported, flags);
    // Images are billed by their tokens, where these are reported.
    if (toolUsage.some(([name]) => name === "image_gen")) delete calls["image_generation"];
    return Object.fromEntries(Object.entries(calls).filter(([, count]) => count > 0));
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
    // A null never replaces counts.
    const usage = isObject(response["usage"]) ? response["usage"] : this.#last?.["usage"];
    this.#last = { ...response, usage };
    this.#outcome = end;
    if (isObject(response["error"])) this.#errorType = readErrorType(response);
  }

  /** True for a background response that is still running. Only a later fetch of the same id brings its usage. */
  get #isPending(): boolean {
    const isUnfinished = this.#outcome === "queued" || this.#outcome === "in_progress";
    return isUnfinished || (this.#outcome === "cut" && this.#isBackground);
  }
}

/** What `tool_usage` has: usage of the service's tools by their names. */
type ToolUsage = readonly (readonly [name: string, usage: unknown])[];

/** Reads the tokens of one of the service's tools, e.g. `image_gen`. They are billed in addition to the response's usage. */
function readToolTokens(type: string, usage: JsonObject): ExtraTokens[] {
  const uncached = asCount(usage["input_tokens"]) ?? 0;
  const output = asCount(usage["output_tokens"]) ?? 0;
  if (uncached + output === 0) return [];
  const counts = { uncached, read: null, write: null, lifetimes: null, output, reasoning: null };
  return [{ type, model: null, ...toTokenClasses(counts, new Set()), billable: true }];
}
