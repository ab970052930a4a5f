import { isObject, type JsonObject } from "../../json.ts";
import { asObject, asText } from "../fields.ts";
import { GEMINI_FORMAT } from "../gemini.ts";
import { GROUNDING } from "./searches.ts";
import { isCounting } from "./usage.ts";
import { JsonScanner, TEXT, type Selection } from "../json/json-scanner.ts";
import { spendOf } from "../meter.ts";
import type { MeterReading } from "../reading.ts";
import type { EventReader, SocketEvent } from "../socket-events.ts";
import { StreamedText } from "../streamed-text.ts";
import { TEXT_BYTES, USAGE_BYTES } from "../usage-format.ts";

const FLAG_BYTES = 8;

/** What is read of a message of the service (npm `@google/genai`, `LiveServerMessage`). */
const MESSAGE: Selection = {
  serverContent: {
    modelTurn: { parts: [{ text: TEXT }] },
    outputTranscription: { text: TEXT },
    groundingMetadata: GROUNDING,
    interrupted: FLAG_BYTES,
    turnComplete: FLAG_BYTES,
    turnCompleteReason: TEXT_BYTES,
  },
  toolCall: {},
  usageMetadata: USAGE_BYTES,
};

/** What a message of the Live API says of a turn. */
interface LiveFacts {
  /** True for output of the model: a turn is under way. A transcript may come after the end of its turn, and opens none. */
  opensTurn: boolean;
  /** True for output, its transcript, and usage. */
  isOfTurn: boolean;
  /** True where the model waits for the results of tools. */
  isToolCall: boolean;
  hasUsage: boolean;
}

/** Reads what a message says of a turn. */
export function readLiveFacts({ fields, isContent }: SocketEvent): LiveFacts {
  const isToolCall = isObject(fields["toolCall"]);
  const hasUsage = isCounting(asObject(fields["usageMetadata"]));
  const opensTurn = isToolCall || isObject(asObject(fields["serverContent"])["modelTurn"]);
  return { opensTurn, isOfTurn: isContent || isToolCall || hasUsage, isToolCall, hasUsage };
}

/** Reads the messages of the Live API, one JSON object each, in any chunking. Google sends them in binary frames. Keeps copies only, as a meter does. */
export class LiveEvents implements EventReader {
  readonly readsBinary = true;
  readonly #text = new StreamedText();
  readonly #json = new JsonScanner(MESSAGE, this.#text);
  #textTokens = 0;

  feed(bytes: Buffer): void {
    this.#json.feed(bytes);
  }

  end(): SocketEvent | null {
    const { fields, isComplete } = this.#json;
    this.#json.reset();
    const textTokens = this.#text.tokens - this.#textTokens;
    this.#textTokens += textTokens;
    if (!isComplete) return null;
    const content = asObject(fields["serverContent"]);
    return {
      type: "",
      fields,
      lane: "",
      responseId: null,
      previousId: null,
      steeredId: null,
      isTerminal: content["turnComplete"] === true,
      isContent: isObject(content["modelTurn"]) || isObject(content["outputTranscription"]),
      textTokens,
    };
  }
}

/** Why the model stopped where no reason is given. */
const STOP = "STOP";
const INTERRUPTED = "INTERRUPTED";

/** Meters one turn of the Live API. Its usage comes once, with the end of the turn; of several the last one counts, as in a stream. */
export class LiveTurnMeter {
  readonly #collector = GEMINI_FORMAT.createCollector({ inputIncludesCache: false });
  #isInterrupted = false;
  #textTokens = 0;

  add({ fields, isTerminal, textTokens }: SocketEvent): void {
    this.#textTokens += textTokens;
    const content = asObject(fields["serverContent"]);
    this.#isInterrupted ||= content["interrupted"] === true;
    const { modelTurn, groundingMetadata } = content;
    const candidate: JsonObject = {
      ...(isObject(modelTurn) && { content: modelTurn }),
      ...(isObject(groundingMetadata) && { groundingMetadata }),
      ...(isTerminal && { finishReason: this.#reasonOf(content) }),
    };
    const { usageMetadata } = fields;
    this.#collector.addEvent("", {
      candidates: [candidate],
      ...(isObject(usageMetadata) && { usageMetadata }),
    });
  }

  /** Returns what is known of the turn. One that has not ended counts as cut. */
  read(hasEnded: boolean): MeterReading {
    const reading = this.#collector.toReading(hasEnded, false);
    reading.spend = spendOf(reading, "count");
    if (reading.usage === "partial" || reading.usage === "absent") reading.output_estimate = this.#textTokens;
    return reading;
  }

  #reasonOf({ turnCompleteReason }: JsonObject): string {
    if (this.#isInterrupted) return INTERRUPTED;
    const reason = asText(turnCompleteReason);
    return reason === null || reason.endsWith("_UNSPECIFIED") ? STOP : reason;
  }
}
