import { MOST_EXTRA, TEXT_BYTES, USAGE_BYTES, nothingLearned, usageStateOf } from "./dialect.ts";
import type { Answer, Dialect } from "./dialect.ts";
import { ERROR, errorTypeOf } from "./errors.ts";
import { countOf, fieldsOf, isFields, textOf, withoutSentences, wordOf } from "./fields.ts";
import { readResponsesUsage } from "./responses/usage.ts";
import type { Fields, Shape } from "./json/json-scan.ts";
import type { ExtraTokens, Flag, Outcome, Reading } from "./reading.ts";
import { classesOf, hasInput, tokensOf } from "./tokens.ts";

const RESPONSE: Shape = {
  ...ERROR,
  id: TEXT_BYTES,
  model: TEXT_BYTES,
  status: TEXT_BYTES,
  background: 16,
  service_tier: TEXT_BYTES,
  incomplete_details: { reason: TEXT_BYTES },
  usage: USAGE_BYTES,
  tool_usage: USAGE_BYTES,
};

/** The events that end a stream, with the outcome that each stands for. */
const TERMINAL: ReadonlyMap<string, Outcome> = new Map([
  ["response.completed", "completed"],
  ["response.incomplete", "incomplete"],
  ["response.failed", "failed"],
  ["response.cancelled", "cancelled"],
]);

/** `response.status`, which is our word for the outcome too. */
const STATUSES: ReadonlyMap<unknown, Outcome> = new Map(
  (["completed", "incomplete", "failed", "cancelled", "queued", "in_progress"] as const).map((status) => [
    status,
    status,
  ]),
);

/**
 * Responses (OpenAI-style): usage comes once, with the terminal event or in the body. Sources: usage.md sections
 * 1.2 and 2; error event both flat and nested (openai-dotnet#881).
 */
export const RESPONSES: Dialect = {
  event: { ...ERROR, type: TEXT_BYTES, response: RESPONSE },
  eventTypes: ["response.created", "response.queued", "response.in_progress", ...TERMINAL.keys(), "error"],
  body: RESPONSE,
  isContent: (type) => type.endsWith(".delta"),
  createAnswer: () => new ResponsesAnswer(),
};

class ResponsesAnswer implements Answer {
  /** What the answer is, as last said by any response object. */
  #id: string | null = null;
  #model: string | null = null;
  #serviceTier: string | null = null;
  #isBackground = false;
  /** The response object that ended the answer. */
  #last: Fields | null = null;
  #outcome: Outcome = "cut";
  #errorType: string | null = null;

  takeEvent(type: string, fields: Fields): void {
    if (type === "error") this.#fail(fields);
    else this.#takeResponse(fieldsOf(fields["response"]), TERMINAL.get(type) ?? null);
  }

  takeBody(fields: Fields): void {
    const isBareError = isFields(fields["error"]) && !STATUSES.has(fields["status"]);
    if (isBareError) this.#fail(fields);
    // `/responses/compact` answers without a status.
    else this.#takeResponse(fields, STATUSES.get(fields["status"]) ?? "completed");
  }

  get isOver(): boolean {
    return this.#last !== null || this.#outcome === "error";
  }

  learn(): Reading {
    const last = this.#goesOn ? {} : (this.#last ?? {});
    const rawUsage = isFields(last["usage"]) ? withoutSentences(last["usage"]) : null;
    const flags = new Set<Flag>();
    const counts = readResponsesUsage(rawUsage ?? {}, flags);
    const tokens = tokensOf(counts, flags);
    const isExact = hasInput(counts) && counts.output !== null;
    const toolUsage = Object.entries(withoutSentences(fieldsOf(last["tool_usage"]))).slice(0, MOST_EXTRA);
    const reading = nothingLearned(this.#outcome, this.#goesOn ? "pending" : usageStateOf(tokens, isExact));
    reading.stop = wordOf(fieldsOf(last["incomplete_details"])["reason"]);
    reading.error_type = this.#errorType;
    reading.response_id = this.#id;
    reading.model = this.#model;
    reading.service_tier = this.#serviceTier;
    reading.tokens = tokens;
    reading.extra = toolUsage.flatMap(([name, usage]) => readToolTokens(name, fieldsOf(usage)));
    reading.server_tools = Object.fromEntries(
      toolUsage.flatMap(([name, usage]) => readToolCalls(name, fieldsOf(usage))),
    );
    reading.raw_usage = rawUsage;
    reading.flags = [...flags];
    return reading;
  }

  #fail(fields: Fields): void {
    this.#errorType = errorTypeOf(fields);
    if (this.#last === null) this.#outcome = "error";
  }

  #takeResponse(response: Fields, end: Outcome | null): void {
    this.#id = textOf(response["id"]) ?? this.#id;
    this.#model = textOf(response["model"]) ?? this.#model;
    this.#serviceTier = wordOf(response["service_tier"]) ?? this.#serviceTier;
    if (typeof response["background"] === "boolean") this.#isBackground = response["background"];
    if (end === null) return;
    this.#last = response;
    this.#outcome = end;
    if (isFields(response["error"])) this.#errorType = errorTypeOf(response);
  }

  /**
   * A background response goes on after its answer: its usage, whatever is said now, stands in a later
   * fetch of the same id.
   */
  get #goesOn(): boolean {
    const isUnfinished = this.#outcome === "queued" || this.#outcome === "in_progress";
    return isUnfinished || (this.#outcome === "cut" && this.#isBackground);
  }
}

/** Calls of a tool of the service, e.g. `web_search.num_requests`; a tool that was not called is left out. */
function readToolCalls(name: string, usage: Fields): [string, number][] {
  const calls = countOf(usage["num_requests"]) ?? 0;
  return calls > 0 ? [[name, calls]] : [];
}

/** Tokens of a tool of the service, e.g. `image_gen`: billed, and no part of the response's own usage. */
function readToolTokens(type: string, usage: Fields): ExtraTokens[] {
  const uncached = countOf(usage["input_tokens"]) ?? 0;
  const output = countOf(usage["output_tokens"]) ?? 0;
  if (uncached + output === 0) return [];
  const counts = { uncached, read: null, write: null, lifetimes: null, output, reasoning: null };
  return [{ type, model: null, ...classesOf(counts, new Set()), billable: true }];
}
