import { withProgramName } from "./program-name.ts";
import { widthOf } from "./width.ts";

/** Longer lines are hard to read, however wide the terminal is. */
export const MOST_CHARACTERS = 100;

/** Code in braces is copied, so it is not broken. A number stays with its unit, as in `11 min ago`, and `--by` with its value. */
const WORD = /(?:\{[^}]*\}|\b\d+ (?=(?:s|ms|min|h|days?|[kKMGT]?B)\b)| (?=ago\b)|--by (?=\w)|\S)+/g;

/** A command that ends a text. */
const LAST_COMMAND = /^(.*: )((?:tollkeeper|curl) .*)$/;

/** Two commands to be typed one after the other. Each is copied by itself. */
const TWO_COMMANDS = /^(.*: )(tollkeeper [^:]*), then: (tollkeeper .*)$/;

/** The narrowest column of text. */
const LEAST_CHARACTERS = 20;

/**
 * Breaks a text between words into lines of at most `width` characters. A command that ends it has a line of its own and stays
 * whole, so that it can be copied. A text that fits is one line.
 */
export function wrapAdvice(text: string, width: number): string[] {
  const whole = withProgramName(text);
  if (widthOf(whole) <= width) return [whole];
  const [, ahead, first, second] = TWO_COMMANDS.exec(text) ?? [];
  const [, before = text, command] = LAST_COMMAND.exec(text) ?? [];
  const lines = wrapWords(withProgramName(ahead ?? before), Math.max(LEAST_CHARACTERS, width)).split("\n");
  const commands = [first, second ?? command].filter((one) => one !== undefined);
  return [...lines, ...commands.map(withProgramName)];
}

/**
 * Breaks a text between words into lines of at most `width` characters. A longer word has a line of its own; a longer path or address is
 * broken behind its slashes.
 */
export function wrapWords(text: string, width: number): string {
  const lines: string[] = [];
  for (const word of (text.match(WORD) ?? []).flatMap((one) => splitPath(one, width))) {
    const longer = `${lines.at(-1) ?? ""} ${word}`;
    if (lines.length === 0 || widthOf(longer) > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}

/** Code in braces stays whole. */
function splitPath(word: string, width: number): string[] {
  if (widthOf(word) <= width || word.startsWith("{")) return [word];
  const pieces: string[] = [];
  for (const part of word.split(/(?<=[^/]\/)(?=[^/])/)) {
    const longer = (pieces.at(-1) ?? "") + part;
    if (pieces.length === 0 || widthOf(longer) > width) pieces.push(part);
    else pieces[pieces.length - 1] = longer;
  }
  return pieces;
}

/** A line that is a command alone. */
const COMMAND = /^(?:tollkeeper|curl) /;

/** True for a line of {@link wrapAdvice} that is a command. */
export function isCommand(line: string): boolean {
  return COMMAND.test(line) || line.startsWith(withProgramName("tollkeeper "));
}

/** What begins a message, or indents a further line of it. */
const BEGINNING = /^(?:(?:error|hint|note): | *)/;

/**
 * Wraps a message for a terminal of `width` characters: what has no room goes on under the beginning of the text, behind `hint: `. A
 * command that ends a line has a line of its own and stays whole.
 */
export function wrapMessage(message: string, width: number): string {
  const most = Math.min(width, MOST_CHARACTERS);
  return message
    .split("\n")
    .flatMap((line) => {
      const [beginning = ""] = BEGINNING.exec(line) ?? [];
      const text = line.slice(beginning.length);
      if (COMMAND.test(text)) return [beginning + withProgramName(text)];
      const indent = " ".repeat(beginning.length);
      return wrapAdvice(text, most - beginning.length).map(
        (part, at) => (at === 0 ? beginning : indent) + part,
      );
    })
    .join("\n");
}
