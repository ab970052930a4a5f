import { toPrintableLines } from "../../core/text/printable.ts";
import { printStyled } from "./console.ts";
import { withProgramName } from "./program-name.ts";
import { MOST_CHARACTERS, wrapAdvice } from "./wrap.ts";

/**
 * Lays out paragraphs for a terminal of `width` characters; nothing is broken where it is infinite. A line that begins with a space is
 * a command to type: it stays whole, whatever its length, as does one that ends a line. Commands of ours get the name they are called by, before lines are broken.
 * Control characters are escaped.
 */
export function layOutProse(paragraphs: readonly string[], width: number): string {
  const most = width === Infinity ? Infinity : Math.min(width, MOST_CHARACTERS);
  return toPrintableLines(withProgramName(paragraphs.join("\n")))
    .split("\n")
    .map((line) => (line.startsWith(" ") ? line : wrapAdvice(line, most).join("\n")))
    .join("\n");
}

/** Prints paragraphs on standard output; nothing where there are none. */
export function printProse(paragraphs: readonly string[]): void {
  if (paragraphs.length > 0) printStyled(layOutProse(paragraphs, process.stdout.columns || Infinity));
}

/** Prints paragraphs on standard error, for what is not a result. */
export function noteProse(paragraphs: readonly string[]): void {
  process.stderr.write(`${layOutProse(paragraphs, process.stderr.columns || Infinity)}\n`);
}
