import { isObject, type JsonObject } from "../../json.ts";
import { asCount, asObject, asText, asWord } from "../fields.ts";
import { GEMINI_FORMAT, withoutModels } from "../gemini.ts";
import { MAX_ELEMENTS, type Selection } from "../json/json-scanner.ts";
import { SUMMED, type Flag, type MeterReading, type Outcome, type Tokens } from "../reading.ts";
import { sizeOf } from "../tokens.ts";
import { createReading, TEXT_BYTES, toUsageState } from "../usage-format.ts";
import { readResourceId } from "./resource-id.ts";
import { chargesSearchesOnce, GROUNDING } from "./searches.ts";

/** Limit for the usage object of one request, in bytes: smaller than for a response of its own, because there may be many. */
const USAGE_BYTES = 4 * 1024;

/** What to read of the response to one request. */
export const RESULT: Selection = {
  response: {
    usageMetadata: USAGE_BYTES,
    modelVersion: TEXT_BYTES,
    candidates: [{ groundingMetadata: GROUNDING }],
  },
};

/** What to read of one of Google's batches: an operation, whose `response` has the results. `metadata.output` repeats them. */
export const GOOGLE_BATCH: Selection = {
  name: TEXT_BYTES,
  metadata: { model: TEXT_BYTES, state: TEXT_BYTES, output: { responsesFile: TEXT_BYTES } },
  response: {
    inlinedResponses: { inlinedResponses: [RESULT] },
    inlinedEmbedContentResponses: { inlinedResponses: [RESULT] },
    responsesFile: TEXT_BYTES,
  },
};

/** The outcome by `metadata.state` (npm `@google/genai`, `JobState`, with `BATCH_` for `JOB_` on the wire). */
const OUTCOMES: ReadonlyMap<unknown, Outcome> = new Map<unknown, Outcome>([
  ["PENDING", "queued"],
  ["RUNNING", "in_progress"],
  ["SUCCEEDED", "completed"],
  ["PARTIALLY_SUCCEEDED", "incomplete"],
  ["FAILED", "failed"],
  ["CANCELLED", "cancelled"],
  ["EXPIRED", "incomplete"],
]);

/** True for a batch of Google's, at whatever state. */
export function isGoogleBatch({ name, metadata }: JsonObject): boolean {
  return isObject(metadata) && /(?:^|\/)batches\/[^/]+$/.test(asText(name) ?? "");
}

/**
 * Reads a batch of Google's. One that has ended with its results in the body has the usage of each request, which is added up. Where they
 * are in a file, that brings the usage (batch-responses.ts).
 */
export function readGoogleBatch(fields: JsonObject): MeterReading {
  const { model, state, output } = asObject(fields["metadata"]);
  const outcome = OUTCOMES.get(asText(state)?.replace(/^(?:BATCH|JOB)_STATE_/, "")) ?? "in_progress";
  const isRunning = outcome === "queued" || outcome === "in_progress";
  const response = asObject(fields["response"]);
  const results = resultsOf(response);
  const file = response["responsesFile"] ?? asObject(output)["responsesFile"];
  const sum = new ResponseSum();
  for (const one of results) if (isObject(one["response"])) sum.add(readResponse(one["response"]));
  const flags = new Set<Flag>(sum.flags);
  const isCut = results.length >= MAX_ELEMENTS;
  if (isCut) flags.add("extra_cut_short");
  const isCounted = !isRunning && sum.tokens !== null;
  const usage = isRunning ? "pending" : toUsageState(sum.tokens, !isCut && sum.isComplete, flags);
  return {
    ...createReading(outcome, usage),
    response_id: readResourceId(fields["name"]),
    model: asWord(sum.model ?? withoutModels(asText(model))),
    tokens: isCounted ? sum.tokens : null,
    server_tools: isCounted ? sum.calls : {},
    raw_usage: isCounted ? sum.usage : null,
    smallest_prompt: isCounted ? sum.smallest : null,
    largest_prompt: isCounted ? sum.largest : null,
    flags: isCounted ? [...flags] : [],
    output_file: isRunning ? null : readResourceId(file),
  };
}

function resultsOf(response: JsonObject): JsonObject[] {
  const lists = [response["inlinedResponses"], response["inlinedEmbedContentResponses"]];
  return lists.flatMap((list) => {
    const { inlinedResponses: results } = asObject(list);
    return Array.isArray(results) ? results.filter(isObject) : [];
  });
}

/** Reads the response to one request of a batch. Older models charge for searches once for each prompt, however many there were. */
export function readResponse(response: JsonObject): MeterReading {
  const collector = GEMINI_FORMAT.createCollector({ inputIncludesCache: false });
  collector.addBody(response);
  const reading = collector.toReading(true, false);
  const { web_search: searches = 0 } = reading.server_tools;
  if (searches > 1 && chargesSearchesOnce(reading.model)) reading.server_tools = { web_search: 1 };
  return reading;
}

/** The usage of all requests of a batch. Those that failed have none, and are not billed. */
export class ResponseSum {
  tokens: Tokens | null = null;
  model: string | null = null;
  /** The usage objects, added up by member, and their lists by modality. */
  readonly usage: JsonObject = {};
  readonly flags = new Set<Flag>([SUMMED]);
  readonly calls: Record<string, number> = {};
  smallest: number | null = null;
  largest: number | null = null;
  /** False once a response had no usage that counts. */
  isComplete = true;

  add({ tokens, usage, model, flags, server_tools: calls, raw_usage: raw }: MeterReading): void {
    if (tokens === null || usage !== "final") this.isComplete = false;
    if (tokens === null) return;
    this.model ??= model;
    for (const flag of flags) this.flags.add(flag);
    for (const [name, count] of Object.entries(calls)) this.calls[name] = (this.calls[name] ?? 0) + count;
    this.tokens = this.tokens === null ? tokens : addTokens(this.tokens, tokens);
    const size = sizeOf(tokens);
    this.smallest = Math.min(this.smallest ?? size, size);
    this.largest = Math.max(this.largest ?? size, size);
    addUsage(this.usage, raw ?? {});
  }
}

function addTokens(sum: Tokens, more: Tokens): Tokens {
  const added = { ...sum };
  for (const name of Object.keys(more) as (keyof Tokens)[])
    if (name !== "reasoning") added[name] += more[name];
  const { reasoning } = sum;
  return {
    ...added,
    reasoning: reasoning === null || more.reasoning === null ? null : reasoning + more.reasoning,
  };
}

/** Far more members than a usage object has, and kinds of tokens than a list. The record stays small whatever is sent. */
const MOST_NAMES = 32;

function addUsage(sum: JsonObject, usage: JsonObject): void {
  for (const [name, value] of Object.entries(usage).slice(0, MOST_NAMES)) {
    if (!Object.hasOwn(sum, name) && Object.keys(sum).length >= MOST_NAMES) continue;
    const count = asCount(value);
    if (count !== null) sum[name] = (asCount(sum[name]) ?? 0) + count;
    else if (Array.isArray(value)) sum[name] = addDetails(sum[name], value);
  }
}

function addDetails(sum: unknown, details: readonly unknown[]): JsonObject[] {
  const counts = new Map<string, number>();
  for (const detail of [...(Array.isArray(sum) ? sum : []), ...details]) {
    const { modality, tokenCount } = asObject(detail);
    const name = asWord(modality);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + (asCount(tokenCount) ?? 0));
  }
  return [...counts].slice(0, MOST_NAMES).map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
