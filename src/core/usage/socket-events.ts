import type { JsonObject } from "../json.ts";
import { asObject, asText } from "./fields.ts";
import { JsonScanner, type Selection } from "./json/json-scanner.ts";
import { spendOf } from "./meter.ts";
import { WARMUP, type MeterReading } from "./reading.ts";
import { RESPONSES_FORMAT } from "./responses.ts";
import { StreamedText } from "./streamed-text.ts";
import { TEXT_BYTES } from "./usage-format.ts";

/** The event that says how much of a limit is used (docs/wire.md section 10). */
export const LIMITS_EVENT = "codex.rate_limits";

const WINDOW: Selection = { used_percent: 24, window_minutes: 24, reset_at: 24, reset_after_seconds: 24 };

/** What is read of an event: as of one in a stream, and the members by which a WebSocket tells responses apart. */
const EVENT: Selection = {
  ...RESPONSES_FORMAT.event,
  response: { ...RESPONSES_FORMAT.body, previous_response_id: TEXT_BYTES },
  steer: { previous_response_id: TEXT_BYTES },
  stream_id: TEXT_BYTES,
  status: 16,
  status_code: 16,
  rate_limits: { primary: WINDOW, secondary: WINDOW },
  metered_limit_name: 64,
  limit_name: 64,
};

/** Some services end a response with it, or send it after `response.completed`, with the same id. */
const DONE = "response.done";

const COMPLETED = "response.completed";

/** The events that end a response. */
const TERMINAL: ReadonlySet<string> = new Set([
  COMPLETED,
  "response.incomplete",
  "response.failed",
  "response.cancelled",
  DONE,
]);

/** One event of an API on a WebSocket (docs/websocket.md). What is said of lanes and ids, only the Responses API has. */
export interface SocketEvent {
  /** "" where events have none. */
  type: string;
  fields: JsonObject;
  /** `stream_id`: the lane in which it belongs. "" for the lane without a name. */
  lane: string;
  /** The id of the response that it carries; null for one that carries none. */
  responseId: string | null;
  /** The id of the response that this one follows; null where it names none. */
  previousId: string | null;
  /** The id of the response that was steered, in an event about a steer; null in any other. */
  steeredId: string | null;
  /** True for an event that ends its response. */
  isTerminal: boolean;
  isContent: boolean;
  /** An estimate of the tokens of its text. */
  textTokens: number;
}

/** Reads the events that a service sends on a WebSocket, one JSON object a message. Keeps copies only, as a meter does. */
export abstract class EventReader {
  /** True where events also come in binary messages. */
  abstract readonly readsBinary: boolean;
  readonly #text = new StreamedText();
  readonly #json: JsonScanner;
  #textTokens = 0;

  /** @param selection what is read of an event */
  constructor(selection: Selection) {
    this.#json = new JsonScanner(selection, this.#text);
  }

  /** Takes the next bytes of a message, in any chunking. */
  feed(bytes: Buffer): void {
    this.#json.feed(bytes);
  }

  /** Ends the message. Returns its event; null for a message that is none. */
  end(): SocketEvent | null {
    const { fields, isComplete } = this.#json;
    this.#json.reset();
    const textTokens = this.#text.tokens - this.#textTokens;
    this.#textTokens += textTokens;
    return isComplete ? this.read(fields, textTokens) : null;
  }

  /** Returns the event of a whole message; null for one that is none. `textTokens`: an estimate of the tokens of its text. */
  protected abstract read(fields: JsonObject, textTokens: number): SocketEvent | null;
}

/** Reads the events of the Responses API. */
export class SocketEvents extends EventReader {
  readonly readsBinary = false;

  constructor() {
    super(EVENT);
  }

  protected override read(fields: JsonObject, textTokens: number): SocketEvent | null {
    const type = asText(fields["type"]);
    if (type === null) return null;
    const response = asObject(fields["response"]);
    return {
      type,
      fields,
      lane: asText(fields["stream_id"]) ?? "",
      responseId: asText(response["id"]),
      previousId: asText(response["previous_response_id"]),
      steeredId: asText(asObject(fields["steer"])["previous_response_id"]),
      isTerminal: TERMINAL.has(type),
      isContent: RESPONSES_FORMAT.isContent(type),
      textTokens,
    };
  }
}

/** Returns the status of an error event, which older services spell `status_code`. 400 for one without a valid one. */
export function readErrorStatus({ status, status_code: older }: JsonObject): number {
  const found = [status, older].find((value) => typeof value === "number" && value >= 300 && value <= 599);
  return typeof found === "number" ? found : 400;
}

/** Meters one response on a WebSocket from its events, which may come between those of others. */
export class TurnMeter {
  readonly #warmup: "count" | "never" | null;
  readonly #collector = RESPONSES_FORMAT.createCollector({ inputIncludesCache: false });
  #textTokens = 0;

  /** @param warmup how a warm-up counts; null for a response that is none */
  constructor(warmup: "count" | "never" | null) {
    this.#warmup = warmup;
  }

  add({ type, fields, textTokens }: SocketEvent): void {
    this.#textTokens += textTokens;
    const known = type === DONE ? nameEnd(fields) : type;
    if (RESPONSES_FORMAT.eventTypes.includes(known)) this.#collector.addEvent(known, fields);
  }

  /** Returns what is known so far. Without the event that ends it, the response counts as cut. */
  read(): MeterReading {
    const reading = this.#collector.toReading(false, false);
    reading.spend = spendOf(reading, "count");
    if (reading.usage === "partial" || reading.usage === "absent") reading.output_estimate = this.#textTokens;
    if (this.#warmup !== null) this.#markWarmup(reading, this.#warmup);
    return reading;
  }

  /** What has generated something is no warm-up, whatever was asked: readers of a message with two `generate` may differ. */
  #markWarmup(reading: MeterReading, spend: "count" | "never"): void {
    if (this.#textTokens > 0 || (reading.tokens?.output ?? 0) > 0) return;
    reading.flags.push(WARMUP);
    // What is not known is not known to be free.
    if (reading.tokens !== null && reading.spend === "count") reading.spend = spend;
  }
}

/** Returns the event that {@link DONE} stands for. */
function nameEnd(fields: JsonObject): string {
  const type = `response.${asText(asObject(fields["response"])["status"])}`;
  return TERMINAL.has(type) && type !== DONE ? type : COMPLETED;
}
