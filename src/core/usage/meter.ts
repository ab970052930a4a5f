import { nothingLearned } from "./dialect.ts";
import type { Answer, Dialect } from "./dialect.ts";
import { BodyReader } from "./body-reader.ts";
import { ERRORS } from "./errors.ts";
import { MESSAGES } from "./messages.ts";
import type { Reading, Spend, UsageState } from "./reading.ts";
import { RESPONSES } from "./responses.ts";

/** What is known of an answer before its body. */
export interface MeterSetup {
  /** How the route tells usage; `none` where it has none. */
  dialect: "messages" | "responses" | "none";
  /** The route's own rule: `count` where tokens are made, `attach_by_response_id` where a response is fetched. */
  spend: Spend;
  /** HTTP status. */
  status: number;
  /** The `content-type` header; null when there is none. */
  contentType: string | null;
  /** The upstream is known to add cached tokens to the `input_tokens` of Messages (usage.md section 3). */
  inputIncludesCache: boolean;
}

/**
 * Reads one answer's usage as its body passes. Never throws, whatever the bytes. Holds copies only, bounded however
 * long the body: the kept values of one JSON document (usage objects at 64 KiB each, the rest at 1 KiB), a buffer no
 * larger than the largest of them, of a stream the first KiB of one line, and of a Messages stream the last value of at
 * most 64 names of its usage.
 *
 * Costs 0.2 µs of processor time per event without usage, 0.4 when it comes in two chunks, and nothing to be collected
 * afterwards; 3 to 6 µs per event with usage; 5 µs and 4 KB per answer of one JSON document, 0.3 of it before the first
 * byte (`npm run bench -- --scenario meter`).
 */
export interface Meter {
  /** Takes the next bytes of the decoded body, in any chunking. */
  feed(chunk: Buffer): void;
  /** Has the first content event of a stream been seen? */
  readonly sawContent: boolean;
  /** Does what came until now say of itself that it is all? Always so unless it is a stream that tells usage. */
  readonly isOver: boolean;
  /**
   * What the answer came to. To be called once, last. `whole`: the body ended as its framing said it should; it
   * decides on routes without usage alone, since all other answers say themselves where they end.
   */
  finish(whole: boolean): Reading;
}

/** From here on an answer holds no model's words: redirects are passed on, not followed. */
const FIRST_FRUITLESS_STATUS = 300;

/** `application/problem+json` is JSON as well. */
const JSON_OR_EVENTS = /^\s*(?:application\/(?:[\w.-]+\+)?json|text\/event-stream)/i;

/** A meter for one answer. */
export function createMeter(setup: MeterSetup): Meter {
  const { dialect, spend, status } = setup;
  const hasUsage = dialect !== "none" && spend !== "never";
  if (!hasUsage) return new PlainMeter(setup, "none");
  if (status >= FIRST_FRUITLESS_STATUS) return new PlainMeter(setup, "absent");
  return new UsageMeter(setup, dialect === "messages" ? MESSAGES : RESPONSES);
}

/**
 * For an answer without usage: model lists, token counting, and whatever says by its status that it is none. Only the kind
 * of an error is to be learned, and whether a body that calls itself JSON is.
 */
class PlainMeter implements Meter {
  readonly sawContent = false;
  readonly isOver = true;
  readonly #answer = ERRORS.createAnswer({ inputIncludesCache: false });
  readonly #body: BodyReader;
  readonly #isError: boolean;
  readonly #usage: UsageState;
  readonly #isJson: boolean;

  constructor({ contentType, status }: MeterSetup, usage: UsageState) {
    this.#body = new BodyReader(contentType, ERRORS, this.#answer);
    this.#isError = status >= FIRST_FRUITLESS_STATUS;
    this.#usage = usage;
    this.#isJson = contentType !== null && JSON_OR_EVENTS.test(contentType);
  }

  feed(chunk: Buffer): void {
    this.#body.feed(chunk);
  }

  finish(whole: boolean): Reading {
    const isReadable = this.#body.finish();
    const reading = this.#isError
      ? this.#answer.learn()
      : nothingLearned(whole ? "completed" : "cut", this.#usage);
    reading.usage = this.#usage;
    if (!isReadable && this.#isJson) reading.flags.push("bad_json");
    return reading;
  }
}

/** For an answer that tells its usage. An answer is whole when it says so itself, whatever became of the connection. */
class UsageMeter implements Meter {
  readonly #answer: Answer;
  readonly #body: BodyReader;
  readonly #spend: Spend;
  readonly #isStream: boolean;

  constructor({ contentType, spend, inputIncludesCache }: MeterSetup, dialect: Dialect) {
    this.#answer = dialect.createAnswer({ inputIncludesCache });
    this.#body = new BodyReader(contentType, dialect, this.#answer);
    this.#spend = spend;
    this.#isStream = contentType?.toLowerCase().startsWith("text/event-stream") ?? false;
  }

  feed(chunk: Buffer): void {
    this.#body.feed(chunk);
  }

  get sawContent(): boolean {
    return this.#body.hasContent;
  }

  get isOver(): boolean {
    return !this.#isStream || this.#answer.isOver;
  }

  finish(whole: boolean): Reading {
    const isReadable = this.#body.finish();
    const reading = this.#answer.learn();
    // A stream without its last word broke off, however cleanly; anything else that came whole is merely no message.
    if (whole && !this.#isStream && reading.outcome === "cut") reading.outcome = "completed";
    if (!isReadable) reading.flags.push("bad_json");
    reading.spend = spendOf(reading, this.#spend);
    return reading;
  }
}

/** Without tokens there is nothing to count, unless they come with a later fetch. */
function spendOf({ tokens, usage }: Reading, route: Spend): Spend {
  if (usage === "pending") return "attach_by_response_id";
  return tokens === null ? "never" : route;
}
