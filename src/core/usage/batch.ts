import { isObject, type JsonObject } from "../json.ts";
import { ERROR_FIELDS, readErrorType } from "./errors.ts";
import { asObject, asText, asWord, removeSentences } from "./fields.ts";
import { GOOGLE_BATCH, isGoogleBatch, readGoogleBatch } from "./gemini/batch.ts";
import { readResourceId } from "./gemini/resource-id.ts";
import { readInclusiveUsage } from "./inclusive-usage.ts";
import { SUMMED, type Flag, type MeterReading, type Outcome } from "./reading.ts";
import { hasCounts } from "./sent-counts.ts";
import { hasInput, toTokens } from "./tokens.ts";
import {
  createReading,
  TEXT_BYTES,
  toUsageState,
  USAGE_BYTES,
  type TypedFormat,
  type UsageCollector,
} from "./usage-format.ts";

// What a service keeps. The results of Anthropic's batches are in batch/results.ts.

/** What the requests of a batch are billed by, whatever the service calls it: half the price, at Anthropic and OpenAI. */
export const BATCH_TIER = "batch";

const NO_EVENTS = { event: {}, eventTypes: [], texts: [], hasLists: false, isContent: () => false } as const;

/** A created object: a file, an upload, or a part of one. An upload that is complete has become the file that it names. Google's has a name. */
export const OBJECT_FORMAT: TypedFormat = {
  ...NO_EVENTS,
  body: { id: TEXT_BYTES, name: TEXT_BYTES, file: { id: TEXT_BYTES, name: TEXT_BYTES } },
  createCollector: () => new ObjectCollector(),
};

class ObjectCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = false;
  #id: string | null = null;

  addEvent(): void {}

  addBody({ id, name, file }: JsonObject): void {
    const created = asObject(file);
    this.#id = asText(created["id"]) ?? readResourceId(created["name"]) ?? asText(id) ?? readResourceId(name);
  }

  toReading(isWhole: boolean): MeterReading {
    return { ...createReading(isWhole ? "completed" : "cut", "none"), response_id: this.#id };
  }
}

/**
 * The outcome of a batch by its `status` at OpenAI, or `processing_status` at Anthropic. One that has ended has the usage of all its
 * requests at OpenAI; at Anthropic its results have that.
 */
const OUTCOMES: ReadonlyMap<unknown, Outcome> = new Map<unknown, Outcome>([
  ["validating", "queued"],
  ["in_progress", "in_progress"],
  ["finalizing", "in_progress"],
  ["cancelling", "in_progress"],
  ["canceling", "in_progress"],
  ["completed", "completed"],
  ["ended", "completed"],
  ["expired", "incomplete"],
  ["cancelled", "cancelled"],
  ["failed", "failed"],
]);

/** A batch of OpenAI's or Google's, or the creation of one of Anthropic's (docs/wire.md section 13). */
export const BATCH_FORMAT: TypedFormat = {
  ...NO_EVENTS,
  body: {
    ...ERROR_FIELDS,
    id: TEXT_BYTES,
    model: TEXT_BYTES,
    status: TEXT_BYTES,
    processing_status: TEXT_BYTES,
    output_file_id: TEXT_BYTES,
    usage: USAGE_BYTES,
    ...GOOGLE_BATCH,
  },
  createCollector: () => new BatchCollector(),
};

class BatchCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = false;
  #batch: JsonObject | null = null;

  addEvent(): void {}

  addBody(fields: JsonObject): void {
    this.#batch = fields;
  }

  toReading(): MeterReading {
    if (this.#batch === null) return createReading("cut", "absent");
    if (isGoogleBatch(this.#batch)) return { ...readGoogleBatch(this.#batch), service_tier: BATCH_TIER };
    const { id, model, status, processing_status: processing, error, usage } = this.#batch;
    const { output_file_id: output } = this.#batch;
    if (status === undefined && processing === undefined && isObject(error))
      return { ...createReading("error", "absent"), error_type: readErrorType(this.#batch) };
    const outcome = OUTCOMES.get(status ?? processing) ?? "in_progress";
    const isRunning = outcome === "queued" || outcome === "in_progress";
    // Zeros are believed of a batch without a result. Of another they are a service that does not count.
    const isKnown = isObject(usage) && (outcome !== "completed" || hasCounts(usage, "responses"));
    const isCounted = !isRunning && isKnown;
    const rawUsage = isCounted ? removeSentences(usage) : null;
    const flags = new Set<Flag>();
    const counts = readInclusiveUsage(rawUsage ?? {}, "responses", flags);
    const tokens = isCounted ? toTokens(counts, flags.add(SUMMED)) : null;
    const isFinal = hasInput(counts) && counts.output !== null;
    const state = isRunning ? "pending" : toUsageState(tokens, isFinal, flags);
    return {
      ...createReading(outcome, state),
      response_id: asText(id),
      model: asWord(model),
      service_tier: BATCH_TIER,
      tokens,
      raw_usage: rawUsage,
      flags: [...flags],
      output_file: isRunning ? null : asText(output),
    };
  }
}
