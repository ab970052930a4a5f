import { Failure } from "../../core/failure.ts";

/** An assignment in a unit file, in a section such as `Service`. */
export interface UnitSetting {
  section: string;
  name: string;
  value: string;
}

/** Returns the assignments of a unit file in order. Lines joined by a backslash count as one (systemd.syntax(7)). */
export function parseSettings(unit: string): UnitSetting[] {
  const settings: UnitSetting[] = [];
  let section = "";
  for (const line of unit.replaceAll(/\\\n/g, " ").split("\n")) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) settings.push({ section, name, value: value.trim() });
  }
  return settings;
}

/** Returns the values that a unit file assigns to a setting, in order. */
export function readValues(unit: string, name: string): string[] {
  return parseSettings(unit)
    .filter((setting) => setting.name === name)
    .map(({ value }) => value);
}

/** Replaces all assignments of a setting with one line per value, at the position of the first. */
export function replaceValues(unit: string, name: string, values: readonly string[]): string {
  const lines = unit.split("\n");
  const isSetting = (line: string) => line.startsWith(`${name}=`);
  const first = lines.findIndex(isSetting);
  // A template has a line for everything that is filled in.
  if (first === -1) throw new Error(`the unit has no ${name}=`);
  const rest = lines.slice(first).filter((line) => !isSetting(line));
  return [...lines.slice(0, first), ...values.map((value) => `${name}=${value}`), ...rest].join("\n");
}

/** Text that needs no quotes in a unit file. */
const PLAIN = /^[\w./:@=+,-]+$/;

/**
 * Quotes a path or an assignment as one word of a unit file (systemd.syntax(7), "Quoting") and escapes `%`, which begins
 * specifiers.
 * @throws Failure for control characters: a line break would begin another setting
 */
export function quoteWord(text: string): string {
  if (/\p{Cc}/u.test(text)) throw unsupported("control characters in a path", text);
  const escaped = text.replaceAll(/["\\]/g, "\\$&").replaceAll("%", "%%");
  return PLAIN.test(escaped) ? escaped : `"${escaped}"`;
}

/**
 * Quotes the executable of ExecStart=.
 * @throws Failure for quotes and backslashes, which systemd 252 rejects in an executable's path even when quoted
 */
export function quoteExecutable(path: string): string {
  if (/["'\\]/.test(path)) throw unsupported("quotes or backslashes in a program's path", path);
  return quoteWord(path);
}

/** Quotes an argument of ExecStart=, where `$` begins a variable as well (systemd.service(5), "Command lines"). */
export function quoteArgument(text: string): string {
  return quoteWord(text).replaceAll("$", "$$$$");
}

/** A quoted part of a word, an escaped character, a plain character, or the white space between words. */
const WORD_PARTS = /"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|(\\.|[^\s"'\\])|\s+/gs;

/** Splits a value into words without quotes and escapes. Of the specifiers only `%%` is expanded. */
export function splitWords(value: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (const [, doubleQuoted, singleQuoted, bare] of `${value} `.matchAll(WORD_PARTS)) {
    const part = doubleQuoted ?? singleQuoted ?? bare;
    if (part !== undefined) word = (word ?? "") + part.replaceAll(/\\(.)/gs, "$1");
    else {
      if (word !== null) words.push(word.replaceAll("%%", "%"));
      word = null;
    }
  }
  return words;
}

/** Parses the command line of ExecStart= into the executable, without systemd's prefix characters, and its arguments. */
export function parseCommandLine(value: string): string[] {
  const [command = "", ...args] = splitWords(value);
  return [command.replace(/^[-@:+!]+/, ""), ...args.map((arg) => arg.replaceAll("$$", "$"))];
}

function unsupported(what: string, text: string): Failure {
  return new Failure(
    `systemd does not support ${what}: ${JSON.stringify(text)}`,
    "rename the directory, or run without a service: tollkeeper serve",
  );
}
