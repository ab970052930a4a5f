import { createReading, type SaidInHeaders, type UsageCollector, type UsageFormat } from "./usage-format.ts";
import { BATCH_FORMAT, OBJECT_FORMAT } from "./batch.ts";
import { BATCH_OUTPUT_FORMAT } from "./batch/output.ts";
import { BATCH_RESULTS_FORMAT } from "./batch/results.ts";
import { BEDROCK_FORMAT } from "./bedrock/responses.ts";
import { BodyReader } from "./body-reader.ts";
import { CHAT_FORMAT } from "./chat.ts";
import { ERROR_FORMAT } from "./errors.ts";
import { GEMINI_FORMAT } from "./gemini.ts";
import { BATCH_RESPONSES_FORMAT } from "./gemini/batch-responses.ts";
import { MEDIA_FORMAT } from "./media.ts";
import { MESSAGES_FORMAT } from "./messages.ts";
import { WEB_PAGE, type Dialect, type MeterReading, type Spend, type UsageState } from "./reading.ts";
import { RESPONSES_FORMAT } from "./responses.ts";

/** What is known of a response before its body. */
export interface MeterSetup {
  dialect: Dialect;
  /** The route's rule: `count` where tokens are generated, `attach_by_response_id` where a response is fetched. */
  spend: Spend;
  /** HTTP status. */
  status: number;
  /** The `content-type` header; null when there is none. */
  contentType: string | null;
  /** True when the upstream includes cached tokens in the `input_tokens` of Messages (docs/wire.md section 9). */
  inputIncludesCache: boolean;
  /** What its headers say, at Amazon Bedrock; left out for any other response. */
  said?: SaidInHeaders | null;
}

/**
 * Reads the usage of one response while its body passes. Never throws, whatever the bytes. Keeps copies only, in bounded
 * memory for a body of any length: the selected values of one JSON document (up to 64 KiB per usage object, 4 KiB per choice's,
 * 1 KiB for others), one buffer as large as the largest of them, the first KiB of one line of a stream, 64 usage members of a
 * Messages stream, and the first usage object of a chat stream with 64 further counts and 128 choices.
 *
 * Costs 0.4 µs of CPU per event without usage (1.0 of Chat Completions), a third of it for the estimate of its text, 0.2 more when it comes in two chunks, and allocates
 * nothing for it; 3 to 6 µs per event with usage; 5 µs and 4 KB per response of one JSON document, 0.3 µs of it before the first
 * byte (`npm run bench -- --scenario meter`).
 */
export interface Meter {
  /** Takes the next bytes of the decoded body, in any chunking. */
  feed(chunk: Buffer): void;
  /** True once a stream has had an event with model output. */
  readonly hasContent: boolean;
  /**
   * True unless what came so far is known to be only the beginning: a stream with usage before its final event, or one JSON document that
   * is not complete.
   */
  readonly isFinished: boolean;
  /** Returns what {@link Meter.finish} would if the body ended here, without an unfinished event. Changes nothing. */
  readSoFar(): MeterReading;
  /**
   * Ends the body and returns the reading. Call once. `isWhole`: the body ended as its framing announced, or with its connection
   * where `isFramed` is false: then only what a stream says shows that it is whole. A stream of Messages or Responses ignores
   * both, because its events always say so. `hasClientLeft`: the client disconnected before that. A client may do so as soon as
   * the model has stopped, and then nothing was cut, whatever becomes of the rest.
   */
  finish(isWhole: boolean, hasClientLeft?: boolean, isFramed?: boolean): MeterReading;
}

/** Responses from this status on have no model output: redirects are forwarded, not followed. */
const FIRST_STATUS_WITHOUT_OUTPUT = 300;

/** The response to a request with `Range`. */
const PARTIAL_CONTENT = 206;

/** Includes types such as `application/problem+json`. */
const JSON_OR_EVENTS = /^\s*(?:application\/(?:[\w.-]+\+)?json|text\/event-stream)/i;

/** No API responds with this type: it is the page of a proxy, of a login to a network, or of another server. */
const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)/i;

/** Creates the meter of one response. */
export function createMeter(setup: MeterSetup): Meter {
  const { dialect, spend, status } = setup;
  if (dialect === "object" && status < FIRST_STATUS_WITHOUT_OUTPUT)
    return new UsageMeter(setup, OBJECT_FORMAT);
  if (spend === "never" || (dialect === "none" && spend !== "count")) return new PlainMeter(setup, "none");
  // What may cost something and reports nothing that can be read is unknown, not free.
  if (dialect === "none" || dialect === "object" || isPartial(setup) || isMedium(setup))
    return new PlainMeter(setup, "absent");
  return new UsageMeter(setup, FORMATS[dialect]);
}

/** True for an error, and for a part of the results of a batch, which says nothing of the whole. */
function isPartial({ dialect, status }: MeterSetup): boolean {
  const hasLines = dialect === "batch_results" || dialect === "batch_output" || dialect === "batch_responses";
  return status >= FIRST_STATUS_WITHOUT_OUTPUT || (hasLines && status === PARTIAL_CONTENT);
}

const FORMATS = {
  messages: MESSAGES_FORMAT,
  responses: RESPONSES_FORMAT,
  chat: CHAT_FORMAT,
  gemini: GEMINI_FORMAT,
  bedrock: BEDROCK_FORMAT,
  media: MEDIA_FORMAT,
  batch: BATCH_FORMAT,
  batch_results: BATCH_RESULTS_FORMAT,
  batch_output: BATCH_OUTPUT_FORMAT,
  batch_responses: BATCH_RESPONSES_FORMAT,
};

/** True for a body that is the medium itself, or a transcript without usage: sound, subtitles. */
function isMedium({ dialect, contentType }: MeterSetup): boolean {
  return dialect === "media" && contentType !== null && !JSON_OR_EVENTS.test(contentType);
}

/** The meter of a response without usage. Reads only an error's type, and whether a body of type JSON is valid. */
class PlainMeter implements Meter {
  readonly hasContent = false;
  readonly #collector = ERROR_FORMAT.createCollector({ inputIncludesCache: false });
  readonly #body: BodyReader;
  readonly #isError: boolean;
  readonly #usage: UsageState;
  readonly #isJson: boolean;
  readonly #contentType: string | null;
  readonly #errorType: string | null;

  constructor({ contentType, status, said }: MeterSetup, usage: UsageState) {
    this.#errorType = said?.errorType ?? null;
    this.#body = new BodyReader(contentType, ERROR_FORMAT, this.#collector);
    this.#isError = status >= FIRST_STATUS_WITHOUT_OUTPUT;
    this.#usage = usage;
    this.#isJson = contentType !== null && JSON_OR_EVENTS.test(contentType);
    this.#contentType = contentType;
  }

  get isFinished(): boolean {
    return !this.#body.isOpen;
  }

  feed(chunk: Buffer): void {
    this.#body.feed(chunk);
  }

  readSoFar(): MeterReading {
    const reading = this.#isError
      ? this.#collector.toReading(false, false)
      : createReading("cut", this.#usage);
    reading.usage = this.#usage;
    if (this.#isError) reading.error_type ??= this.#errorType;
    return reading;
  }

  finish(isWhole: boolean): MeterReading {
    const isReadable = this.#body.finish();
    const reading = this.readSoFar();
    if (isWhole && !this.#isError) reading.outcome = "completed";
    if (!isReadable && this.#isJson) reading.flags.push("bad_json");
    if (!isReadable && isHtml(this.#contentType)) markWebPage(reading);
    return reading;
  }
}

/** The meter of a response with usage. A stream is complete when its events say so, however the connection ended. */
class UsageMeter implements Meter {
  readonly #collector: UsageCollector;
  readonly #body: BodyReader;
  readonly #spend: Spend;
  readonly #hasLines: boolean;
  readonly #contentType: string | null;

  constructor({ contentType, spend, inputIncludesCache, said }: MeterSetup, format: UsageFormat) {
    this.#contentType = contentType;
    this.#collector = format.createCollector({ inputIncludesCache, said: said ?? null });
    this.#body = new BodyReader(contentType, format, this.#collector);
    this.#hasLines = format.hasLines === true;
    this.#spend = spend;
  }

  feed(chunk: Buffer): void {
    this.#body.feed(chunk);
  }

  get hasContent(): boolean {
    return this.#body.hasContent;
  }

  get isFinished(): boolean {
    return this.#body.isStream ? this.#collector.isFinished : !this.#body.isOpen;
  }

  readSoFar(): MeterReading {
    return this.#read(false, false);
  }

  #read(isWhole: boolean, hasClientLeft: boolean): MeterReading {
    const reading = this.#collector.toReading(isWhole, hasClientLeft);
    reading.spend = spendOf(reading, this.#spend);
    if (reading.usage === "partial" || reading.usage === "absent")
      reading.output_estimate = this.#body.streamedTokens;
    return reading;
  }

  finish(isWhole: boolean, hasClientLeft = false, isFramed = true): MeterReading {
    const isReadable = this.#body.finish();
    const isCertain = isWhole && isReadable && (isFramed || (this.isFinished && !this.#hasLines));
    const reading = this.#read(isCertain, hasClientLeft);
    // A stream without its final event was truncated, however cleanly it closed. Any other whole body was just not a message.
    if (isWhole && !this.#body.isStream && reading.outcome === "cut") reading.outcome = "completed";
    if (!isReadable) {
      if (isHtml(this.#contentType)) markWebPage(reading);
      else reading.flags.push("bad_json");
    }
    return reading;
  }
}

function isHtml(contentType: string | null): boolean {
  return contentType !== null && HTML.test(contentType);
}

/** A page is no response of a model, whatever its status: its record must not look like one that worked. */
function markWebPage(reading: MeterReading): void {
  reading.flags.push(WEB_PAGE);
  if (reading.outcome === "completed") reading.outcome = "error";
  if (reading.outcome === "error") reading.error_type ??= WEB_PAGE;
}

/** Without tokens nothing counts, unless a later fetch brings them, or pictures are paid by number. */
export function spendOf({ tokens, usage }: MeterReading, route: Spend): Spend {
  if (usage === "pending") return "attach_by_response_id";
  return tokens === null && usage !== "none" ? "never" : route;
}
