import { isObject, type JsonObject } from "../json.ts";
import { TEXT_BYTES, createReading, type TypedFormat, type UsageCollector } from "./usage-format.ts";
import { asWord } from "./fields.ts";
import type { Selection } from "./json/json-scanner.ts";
import type { MeterReading } from "./reading.ts";

/** What to read of an error in any of the forms that {@link readErrorType} supports. */
export const ERROR_FIELDS: Selection = { error: { code: TEXT_BYTES, type: TEXT_BYTES }, code: TEXT_BYTES };

/**
 * Returns an error's code, else its type; null when neither is a single word. Both dialects have a nested form
 * (`{"error":{"type"}}`) and a flat one (`{"type":"error","code"}`; docs/wire.md section 8). Some gateways put the message
 * into the code.
 */
export function readErrorType(fields: JsonObject): string | null {
  if (!isObject(fields["error"])) return asErrorCode(fields["code"]);
  const { code, type } = fields["error"];
  return asWord(code) ?? asWord(type) ?? asErrorCode(code);
}

/** Some services have numeric codes. */
function asErrorCode(value: unknown): string | null {
  return typeof value === "number" ? String(value) : asWord(value);
}

/** The format of error responses and of responses without usage: only the error's type is read. */
export const ERROR_FORMAT: TypedFormat = {
  event: { ...ERROR_FIELDS, type: TEXT_BYTES },
  eventTypes: ["error"],
  body: ERROR_FIELDS,
  isContent: () => false,
  createCollector: () => new ErrorCollector(),
};

class ErrorCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = true;
  #errorType: string | null = null;

  addEvent(_type: string, fields: JsonObject): void {
    this.#errorType = readErrorType(fields);
  }

  addBody(fields: JsonObject): void {
    this.#errorType = readErrorType(fields);
  }

  toReading(): MeterReading {
    const reading = createReading("error", "absent");
    reading.error_type = this.#errorType;
    return reading;
  }
}
