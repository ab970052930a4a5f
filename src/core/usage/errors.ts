import { isObject, type JsonObject } from "../json.ts";
import { TEXT_BYTES, createReading, type TypedFormat, type UsageCollector } from "./usage-format.ts";
import { asWord } from "./fields.ts";
import type { Selection } from "./json/json-scanner.ts";
import type { MeterReading } from "./reading.ts";

/** What to read of an error in any of the forms that {@link readErrorType} supports. */
export const ERROR_FIELDS: Selection = {
  error: { code: TEXT_BYTES, type: TEXT_BYTES, status: TEXT_BYTES },
  code: TEXT_BYTES,
};

/** The same for services that speak Chat Completions. */
export const CHAT_ERROR_FIELDS: Selection = { ...ERROR_FIELDS, object: TEXT_BYTES, type: TEXT_BYTES };

/**
 * Returns an error's code, else its type, else its status; null when none is a single word. Errors are nested (`{"error":{"type"}}`) or
 * flat (`{"type":"error","code"}`, docs/wire.md section 8; `{"object":"error","type","code"}`, section 7). Some gateways put the
 * message into the code. Google's code is the HTTP status, and its status a word (section 12).
 */
export function readErrorType(fields: JsonObject): string | null {
  const { error, object } = fields;
  if (!isObject(error) && object !== "error") return asErrorCode(fields["code"]);
  const { code, type, status } = isObject(error) ? error : fields;
  return asWord(code) ?? asWord(type) ?? asWord(status) ?? asErrorCode(code);
}

/** Some services have numeric codes. */
function asErrorCode(value: unknown): string | null {
  return typeof value === "number" ? String(value) : asWord(value);
}

/** The format of error responses and of responses without usage: only the error's type is read. */
export const ERROR_FORMAT: TypedFormat = {
  event: CHAT_ERROR_FIELDS,
  eventTypes: ["error"],
  body: CHAT_ERROR_FIELDS,
  texts: [],
  hasLists: true,
  isContent: () => false,
  createCollector: () => new ErrorCollector(),
};

class ErrorCollector implements UsageCollector {
  readonly hasContent = false;
  readonly isFinished = true;
  #errorType: string | null = null;

  addEvent(_type: string, fields: JsonObject): void {
    this.#errorType = readErrorType(fields) ?? this.#errorType;
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
