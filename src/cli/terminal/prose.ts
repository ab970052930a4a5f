import { toPrintableLines } from "../../core/text/printable.ts";
import { printStyled, withProgramName } from "./console.ts";

/** Longer lines are hard to read, however wide the terminal is. */
const MOST_CHARACTERS = 100;

/** Code in braces is copied, so it is not broken. */
const WORD = /(?:\{[^}]*\}|\S)+/g;

/**
 * Lays out paragraphs for a terminal of `width` characters; nothing is broken where it is infinite. A line that begins with a space is
 * a command to type: it stays whole, whatever its length. Commands of ours get the name they are called by, before lines are broken.
 * Control characters are escaped.
 */
export function layOutProse(paragraphs: readonly string[], width: number): string {
  const most = width === Infinity ? Infinity : Math.min(width, MOST_CHARACTERS);
  return toPrintableLines(withProgramName(paragraphs.join("\n")))
    .split("\n")
    .map((line) => (line.startsWith(" ") ? line : wrapWords(line, most)))
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

/** A command that ends a text. */
const LAST_COMMAND = /^(.*: )((?:tollkeeper|curl) .*)$/;

/** The narrowest column of text. */
const LEAST_CHARACTERS = 20;

/**
 * Breaks a text between words into lines of at most `width` characters. A command that ends it has a line of its own and stays
 * whole, so that it can be copied. A text that fits is one line.
 */
export function wrapAdvice(text: string, width: number): string[] {
  const whole = withProgramName(text);
  if (whole.length <= width) return [whole];
  const [, before = text, command] = LAST_COMMAND.exec(text) ?? [];
  const lines = wrapWords(withProgramName(before), Math.max(LEAST_CHARACTERS, width)).split("\n");
  return command === undefined ? lines : [...lines, withProgramName(command)];
}

/** Breaks a text between words into lines of at most `width` characters. A longer word has a line of its own. */
export function wrapWords(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of text.match(WORD) ?? []) {
    const longer = `${lines.at(-1) ?? ""} ${word}`;
    if (lines.length === 0 || longer.length > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}
