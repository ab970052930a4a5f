import { fixOf } from "../../adapters/system-fix.ts";
import { KeyFailure, messageOf } from "../../core/failure.ts";
import { toPrintableLines } from "../../core/text/printable.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { jsonPieces } from "../../core/text/json-pieces.ts";
import { toSnakeCase } from "../../core/text/snake-case.ts";
import { withProgramName } from "./program-name.ts";
import { wrapMessage } from "./wrap.ts";

/** Exit codes of all commands. After Ctrl-C it is that of shells: 128 plus the number of SIGINT. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Characters of a long text that are printed at once. */
const ENOUGH_AT_ONCE = 1 << 16;

/**
 * Prints one or more lines of results on standard output. Control characters are escaped, because names, paths and
 * messages may come from an attacker (SECURITY.md E3).
 */
export function print(text = ""): void {
  printStyled(toPrintableLines(withProgramName(text)));
}

/** Prints a document for programs. Its field names are those of the ledger: `snake_case`. */
export function printJson(document: unknown): void {
  let text = "";
  for (const piece of jsonPieces(toSnakeCase(document))) {
    text += toPrintableLines(piece);
    if (text.length < ENOUGH_AT_ONCE) continue;
    process.stdout.write(text);
    text = "";
  }
  printStyled(text);
}

/** Prints text with its control characters, such as colours or CRLF. The caller has escaped what others wrote. */
export function printStyled(text: string): void {
  let from = 0;
  // Whole lines, so that no character is cut. Of a report with many megabytes, no further copy is made.
  for (
    let end = text.indexOf("\n", ENOUGH_AT_ONCE);
    end !== -1;
    end = text.indexOf("\n", from + ENOUGH_AT_ONCE)
  ) {
    process.stdout.write(text.slice(from, end + 1));
    from = end + 1;
  }
  process.stdout.write(`${text.slice(from)}\n`);
}

/** True when standard output is a terminal and colours are not switched off. */
export function hasColours(): boolean {
  return process.stdout.isTTY && !process.env["NO_COLOR"];
}

/** Prints one or more lines on standard error, for what is not a result. Escapes like {@link print}. A terminal gets them wrapped. */
export function note(text: string): void {
  const { columns, isTTY } = process.stderr;
  const lines = isTTY && columns > 0 ? wrapMessage(text, columns) : withProgramName(text);
  process.stderr.write(`${toPrintableLines(lines)}\n`);
}

/** Prints what a command threw and sets the exit code. */
export function reportError(error: unknown): void {
  printFailure(error);
  process.exitCode = error instanceof WrongUsage ? EXIT.usage : EXIT.failed;
}

/** Prints an error on standard error as {@link failureParts} writes it. */
export function printFailure(error: unknown): void {
  for (const part of failureParts(error)) note(part);
}

/** Returns an error for a text that is no terminal's, with the commands as a person has to type them. */
export function describeFailure(error: unknown): string {
  return toPrintableLines(withProgramName(failureParts(error).join("\n")));
}

/** Returns an `error:` line and, if the error has a hint, a `hint:` line for each thing to do. */
function failureParts(error: unknown): string[] {
  const message = `error: ${error instanceof KeyFailure ? error.messageForOwner : messageOf(error)}`;
  const hint = fixOf(error);
  return hint === undefined ? [message] : [message, describeHint(hint)];
}

/** Prints a hint on standard error, with a line for each thing to do. */
export function noteHint(hint: string): void {
  note(describeHint(hint));
}

function describeHint(hint: string): string {
  return `hint: ${hint.replaceAll(NEXT_ADVICE, "\n      ")}`;
}

/** Where a hint goes on to its next piece of advice. Each has a line of its own, so that its command can be copied. */
const NEXT_ADVICE = /; (?=(?:for|if|or|then|to)\b)/g;
