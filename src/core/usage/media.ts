import { isObject, type JsonObject } from "../json.ts";
import { TEXT_BYTES, USAGE_BYTES, chargeByNumber, createReading, toUsageState } from "./usage-format.ts";
import type { TypedFormat, UsageCollector } from "./usage-format.ts";
import { ERROR_FIELDS, readErrorType } from "./errors.ts";
import { asObject, asText, removeSentences } from "./fields.ts";
import { readInclusiveUsage } from "./inclusive-usage.ts";
import { TEXT, type Selection } from "./json/json-scanner.ts";
import { PICTURE, type Flag, type MeterReading, type Outcome } from "./reading.ts";
import { hasCounts } from "./sent-counts.ts";
import { hasInput, toTokens } from "./tokens.ts";

/** So much is kept of a picture that it can be told from a null. */
const NULL_BYTES = 4;

const BODY: Selection = {
  ...ERROR_FIELDS,
  model: TEXT_BYTES,
  usage: USAGE_BYTES,
  data: [{ b64_json: NULL_BYTES, url: NULL_BYTES }],
};

/** The events that end a stream, and have its usage. */
const LAST_EVENTS: readonly string[] = [
  "image_generation.completed",
  "image_edit.completed",
  "speech.audio.done",
  "transcript.text.done",
];

/**
 * OpenAI's images and audio (docs/wire.md section 7): usage with the names of the Responses API, at the top of a body or of the last event. Whisper
 * reports seconds in its place, which are no tokens; many models report nothing. Then pictures are counted.
 */
export const MEDIA_FORMAT: TypedFormat = {
  event: { ...BODY, type: TEXT_BYTES, delta: TEXT },
  eventTypes: [...LAST_EVENTS, "error"],
  body: BODY,
  texts: [["delta", 1]],
  hasLists: false,
  isContent: (type) => type.endsWith(".delta") || type.endsWith(".partial_image"),
  createCollector: () => new MediaCollector(),
};

/** True for an element of `data` that has a picture, or the address of one. What is too long to keep is undefined. */
function isPicture(element: JsonObject): boolean {
  return ["b64_json", "url"].some((name) => Object.hasOwn(element, name) && element[name] !== null);
}

class MediaCollector implements UsageCollector {
  readonly hasContent = false;
  #outcome: Outcome = "cut";
  #errorType: string | null = null;
  #model: string | null = null;
  #usage: JsonObject | null = null;
  #pictures = 0;

  addEvent(type: string, fields: JsonObject): void {
    if (type === "error") this.#fail(fields);
    else this.#end(fields);
  }

  addBody(fields: JsonObject): void {
    if (isObject(fields["error"])) this.#fail(fields);
    else this.#end(fields);
  }

  get isFinished(): boolean {
    return this.#outcome !== "cut";
  }

  toReading(): MeterReading {
    const usage = this.#usage;
    const flags = new Set<Flag>();
    const isCounted = usage !== null && hasCounts(usage, "responses");
    const counts = readInclusiveUsage(isCounted ? usage : {}, "responses", flags);
    const tokens = isCounted ? toTokens(counts, flags) : null;
    const isFinal = hasInput(counts) && counts.output !== null;
    const reading = createReading(this.#outcome, toUsageState(tokens, isFinal, flags));
    reading.error_type = this.#errorType;
    reading.model = this.#model;
    reading.tokens = tokens;
    reading.raw_usage = usage;
    reading.flags = [...flags];
    if (usage === null && this.#pictures > 0) chargeByNumber(reading, PICTURE, this.#pictures);
    return reading;
  }

  #end(fields: JsonObject): void {
    this.#outcome = "completed";
    this.#model = asText(fields["model"]);
    if (isObject(fields["usage"])) this.#usage = removeSentences(fields["usage"]);
    const { data } = fields;
    if (Array.isArray(data)) this.#pictures = data.filter((one) => isPicture(asObject(one))).length;
  }

  #fail(fields: JsonObject): void {
    this.#errorType = readErrorType(fields);
    if (this.#outcome === "cut") this.#outcome = "error";
  }
}
