/** `sh` stands for every POSIX shell (POSIX.1-2024, Shell Command Language); fish has its own language. */
export type Shell = "sh" | "fish";

/**
 * Quotes a word so that the shell takes it literally. In POSIX shells nothing is special between single quotes, and a
 * single quote cannot occur there (section 2.2.2); in fish `\'` and `\\` are the only escapes there
 * (https://fishshell.com/docs/current/language.html#quotes).
 */
export function quoteForShell(word: string, shell: Shell = "sh"): string {
  return `'${shell === "fish" ? word.replaceAll(/['\\]/g, "\\$&") : word.replaceAll("'", "'\\''")}'`;
}

/** Inverts {@link quoteForShell}, and accepts double quotes with nothing special in them. null for any other source. */
export function unquoteShell(source: string, shell: Shell): string | null {
  if (/^"[^"$`\\]*"$/.test(source)) return source.slice(1, -1);
  const quoted = shell === "fish" ? /^'(?:[^'\\]|\\['\\])*'$/ : /^'(?:[^']|'\\'')*'$/;
  if (!quoted.test(source)) return null;
  const inside = source.slice(1, -1);
  return shell === "fish" ? inside.replaceAll(/\\(['\\])/g, "$1") : inside.replaceAll("'\\''", "'");
}

/**
 * Formats a command line that a person can paste into a POSIX shell. Only words that need quotes get them. One with control characters, which
 * a terminal would obey, is written with escapes (POSIX.1-2024 section 2.2.4, also in older bash, ksh and zsh).
 */
export function formatCommand(argv: readonly string[]): string {
  return argv.map(formatWord).join(" ");
}

function formatWord(word: string): string {
  if (/^[\w./:@=+,-]+$/.test(word)) return word;
  return CONTROL.test(word) ? `$'${word.replace(SPECIAL, escapeSpecial)}'` : quoteForShell(word);
}

const CONTROL = /\p{Cc}/u;
const SPECIAL = /['\\]|\p{Cc}/gu;

function escapeSpecial(char: string): string {
  if (!CONTROL.test(char)) return `\\${char}`;
  return [...new TextEncoder().encode(char)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
