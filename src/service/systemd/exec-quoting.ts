import { Failure } from "../../core/failure.ts";

/** Needs no quotes anywhere in a unit. */
const PLAIN = /^[\w./:@=+,-]+$/;

/**
 * Writes a path, or an assignment, as one word of a unit file (systemd.syntax(7), "Quoting"): `%` would begin a specifier.
 * @throws Failure for control characters: a line break would begin a setting of its own
 */
export function writeWord(text: string): string {
  if (/\p{Cc}/u.test(text)) throw notWritable("no control characters in a path", text);
  const escaped = text.replaceAll(/["\\]/g, "\\$&").replaceAll("%", "%%");
  return PLAIN.test(escaped) ? escaped : `"${escaped}"`;
}

/**
 * Writes the program of ExecStart=.
 * @throws Failure for what systemd 252 calls special characters in an executable's name, however they are quoted
 */
export function writeProgram(path: string): string {
  if (/["'\\]/.test(path)) throw notWritable("no quotes and no backslash in a program's path", path);
  return writeWord(path);
}

/** Writes an argument of ExecStart=, where `$` would begin a variable, too (systemd.service(5), "Command lines"). */
export function writeArgument(text: string): string {
  return writeWord(text).replaceAll("$", "$$$$");
}

/** A quoted piece of a word, an escaped character, a plain one, or what separates words. */
const PIECES = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|(\\.|[^\s"'\\])|\s+/gs;

/** Reads words back: quotes and escapes taken off. Specifiers stay as they are, all but `%%`. */
export function readWords(value: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (const [, double, single, bare] of `${value} `.matchAll(PIECES)) {
    const piece = double ?? single ?? bare;
    if (piece !== undefined) word = (word ?? "") + piece.replaceAll(/\\(.)/gs, "$1");
    else if (word !== null) {
      words.push(word.replaceAll("%%", "%"));
      word = null;
    }
  }
  return words;
}

/** Reads the command line of ExecStart= back: what is run, without systemd's own marks before it, and its arguments. */
export function readCommandLine(value: string): string[] {
  const [command = "", ...args] = readWords(value);
  return [command.replace(/^[-@:+!]+/, ""), ...args.map((arg) => arg.replaceAll("$$", "$"))];
}

function notWritable(what: string, text: string): Failure {
  return new Failure(
    `systemd takes ${what}: ${JSON.stringify(text)}`,
    "rename the directory, or run by other means: tollkeeper serve",
  );
}
