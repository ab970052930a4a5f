import { Failure, KeyFailure, messageOf } from "../../core/failure.ts";
import { toPrintableLines } from "../../core/text/printable.ts";

/** Exit codes of all commands. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/**
 * Prints one or more lines of results on standard output. Control characters are escaped, because names, paths and
 * messages may come from an attacker (SECURITY.md E3).
 */
export function print(text = ""): void {
  printStyled(toPrintableLines(text));
}

/** Prints text with its control characters, such as colours or CRLF. The caller has escaped what others wrote. */
export function printStyled(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** True when standard output is a terminal and colours are not switched off. */
export function hasColours(): boolean {
  return process.stdout.isTTY && !process.env["NO_COLOR"];
}

/** Prints one or more lines on standard error, for what is not a result. Escapes like {@link print}. */
export function note(text: string): void {
  process.stderr.write(`${toPrintableLines(text)}\n`);
}

/** Prints an error on standard error: an `error:` line and, if it has a hint, a `hint:` line. */
export function printFailure(error: unknown): void {
  note(`error: ${error instanceof KeyFailure ? error.messageForOwner : messageOf(error)}`);
  if (error instanceof Failure && error.hint !== undefined) note(`hint: ${error.hint}`);
}
