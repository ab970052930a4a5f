import { TEXT_BYTES, nothingLearned } from "./dialect.ts";
import type { Answer, Dialect } from "./dialect.ts";
import { isFields, wordOf } from "./fields.ts";
import type { Fields, Shape } from "./json/json-scan.ts";
import type { Reading } from "./reading.ts";

/** What to read of an error, in any of the shapes that {@link errorTypeOf} knows. */
export const ERROR: Shape = { error: { code: TEXT_BYTES, type: TEXT_BYTES }, code: TEXT_BYTES };

/**
 * The error's code, or else its type. Both dialects meet both shapes: nested (`{"error":{"type","message"}}`, with
 * or without `"type":"error"` beside it) and flat (`{"type":"error","code","message"}`); usage.md section 2.
 * Some gateways put the whole message there; null then, as where there is neither.
 */
export function errorTypeOf(fields: Fields): string | null {
  if (!isFields(fields["error"])) return nameOf(fields["code"]);
  const { code, type } = fields["error"];
  return wordOf(code) ?? wordOf(type) ?? nameOf(code);
}

/** Some services number their errors. */
function nameOf(value: unknown): string | null {
  return typeof value === "number" ? String(value) : wordOf(value);
}

/** An answer whose status says that it is an error: only the kind of error is of interest. */
export const ERRORS: Dialect = {
  event: { ...ERROR, type: TEXT_BYTES },
  eventTypes: ["error"],
  body: ERROR,
  isContent: () => false,
  createAnswer: () => new ErrorAnswer(),
};

class ErrorAnswer implements Answer {
  readonly isOver = true;
  #errorType: string | null = null;

  takeEvent(_type: string, fields: Fields): void {
    this.#errorType = errorTypeOf(fields);
  }

  takeBody(fields: Fields): void {
    this.#errorType = errorTypeOf(fields);
  }

  learn(): Reading {
    const reading = nothingLearned("error", "absent");
    reading.error_type = this.#errorType;
    return reading;
  }
}
