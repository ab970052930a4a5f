import { isObject, type JsonObject } from "../../json.ts";
import { asObject, asText } from "../fields.ts";
import { GEMINI_FORMAT } from "../gemini.ts";
import { spendOf } from "../meter.ts";
import type { MeterReading } from "../reading.ts";
import type { SocketEvent } from "../socket-events.ts";

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
