import { Failure, KeyFailure } from "../../core/failure.ts";
import { printableLines } from "../../core/text/printable.ts";

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2 } as const;

/**
 * Prints a line, or several, on standard output: results, and nothing but results. What acts on a terminal is written
 * out, wherever it came from: names, paths and messages can be a stranger's (facts/threats.md E3).
 */
export function print(text = ""): void {
  printStyled(printableLines(text));
}

/** Prints text that means the control characters it has, colours or CRLF; what strangers say was made printable in it. */
export function printStyled(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a line, or several, on standard error: what is said beside the results. As careful as {@link print}. */
export function note(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}

/** Says what went wrong and what to type next: `error:`, then `hint:`, one line each, on standard error. */
export function printFailure(error: unknown): void {
  note(`error: ${messageOf(error)}`);
  if (error instanceof Failure && error.hint !== undefined) note(`hint: ${error.hint}`);
}

function messageOf(error: unknown): string {
  if (error instanceof KeyFailure) return error.messageForOwner;
  return error instanceof Error ? error.message : String(error);
}
