import type { JsonObject } from "../../json.ts";
import { asObject } from "../fields.ts";
import { JsonScanner, type Selection } from "../json/json-scanner.ts";
import { VIDEO_SECOND, type MeterReading } from "../reading.ts";
import type { RequestScanner } from "../request-scanner.ts";
import { chargeByNumber } from "../usage-format.ts";

/** Of a number, also of one in quotes. */
const NUMBER_BYTES = 16;

/** What a request for films says of their number and length (npm `@google/genai`, `GenerateVideosConfig`). */
const SELECTION: Selection = {
  instances: [{}],
  parameters: { durationSeconds: NUMBER_BYTES, sampleCount: NUMBER_BYTES },
};

/** More than the seconds and the films of any request. */
const MAX_NUMBER = 100_000;

/** Reads what `:predictLongRunning` asks for. Its response names an operation, and says nothing of what is paid. */
export class FilmScanner implements RequestScanner {
  readonly model: string;
  readonly stream = false;
  readonly background = null;
  readonly readPrompt = null;
  readonly #json = new JsonScanner(SELECTION);

  constructor(model: string) {
    this.model = model;
  }

  feed(chunk: Buffer): void {
    this.#json.feed(chunk);
  }

  /** For each prompt there is one film, unless `sampleCount` asks for more. */
  get videoSeconds(): number | null {
    if (!this.#json.isComplete) return null;
    const { instances, parameters } = this.#json.fields;
    const { durationSeconds, sampleCount = 1 }: JsonObject = asObject(parameters);
    const [seconds, films] = [readNumber(durationSeconds), readNumber(sampleCount)];
    if (seconds === null || films === null) return null;
    return seconds * films * (Array.isArray(instances) ? Math.max(1, instances.length) : 1);
  }
}

/** Returns a whole number above 0, as JSON of protocol buffers has it: also in quotes. */
function readNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : value;
  const isRead = typeof number === "number" && Number.isInteger(number) && number > 0 && number <= MAX_NUMBER;
  return isRead ? number : null;
}

/** Says what films are charged for, once the response has named the operation that makes them. `asked` is null for any other request. */
export function chargeFilms(reading: MeterReading, asked: number | null): void {
  const { outcome, usage, response_id: operation } = reading;
  if (asked === null || outcome !== "completed" || usage !== "absent" || operation === null) return;
  chargeByNumber(reading, VIDEO_SECOND, asked);
  reading.spend = "count";
}
