import type { Value } from "../../tools/setting.ts";
import { TextFault } from "./language.ts";

/** `sh`: what all of its kind understand (POSIX.1-2024, Shell Command Language). `fish` has its own language. */
export type Shell = "sh" | "fish";

/** The line that sets a variable, also for the programs which the shell starts. */
export function lineOf(shell: Shell, name: string, value: Value | null): string {
  if (typeof value !== "string" || /[\p{Cc}]/u.test(value)) {
    throw new TextFault(`the value of ${name} is no text on one line`, null);
  }
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new TextFault("no name of a variable", null);
  return shell === "fish" ? `set -gx ${name} ${quoteForFish(value)}` : `export ${name}=${quoteForSh(value)}`;
}

/** The variable that a line of ours sets; null where it is none of ours. */
export function nameIn(line: string): string | null {
  return /^\s*(?:export|set -gx)\s+([A-Za-z_]\w*)[=\s]/.exec(line)?.[1] ?? null;
}

/** Its value, as far as that can be told without running the line; otherwise what stands there. */
export function valueIn(shell: Shell, line: string): string {
  const source = line.replace(/^\s*(?:export|set -gx)\s+\w+[=\s]\s*/, "").trimEnd();
  // Somebody may have quoted it anew.
  if (PLAIN_QUOTE.test(source)) return source.slice(1, -1);
  const isOurs = shell === "fish" ? /^'(?:[^'\\]|\\['\\])*'$/ : /^'(?:[^']|'\\'')*'$/;
  if (!isOurs.test(source)) return source;
  const inside = source.slice(1, -1);
  return shell === "fish" ? inside.replaceAll(/\\(['\\])/g, "$1") : inside.replaceAll("'\\''", "'");
}

/** Nothing in it has a meaning, neither for sh nor for fish. */
const PLAIN_QUOTE = /^"[^"$`\\]*"$/;

/** Nothing has a meaning between single quotes, and they cannot stand there (section 2.2.2). */
function quoteForSh(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** https://fishshell.com/docs/current/language.html#quotes: `\'` and `\\` are the only escapes there. */
function quoteForFish(value: string): string {
  return `'${value.replaceAll(/['\\]/g, "\\$&")}'`;
}
