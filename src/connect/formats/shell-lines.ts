import { quoteForShell, unquoteShell, type Shell } from "../../core/text/shell-words.ts";
import type { Value } from "../../tools/setting.ts";
import { DocumentError } from "./format-editor.ts";

/** Returns the line that sets a variable for the shell and the programs it starts. */
export function printAssignment(shell: Shell, name: string, value: Value | null): string {
  if (typeof value !== "string" || /[\p{Cc}]/u.test(value)) {
    throw new DocumentError(`the value of ${name} is no text on one line`, null);
  }
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new DocumentError("no name of a variable", null);
  const quoted = quoteForShell(value, shell);
  return shell === "fish" ? `set -gx ${name} ${quoted}` : `export ${name}=${quoted}`;
}

/** Returns the variable that a line written by {@link printAssignment} sets; null for any other line. */
export function readName(line: string): string | null {
  return /^\s*(?:export|set -gx)\s+([A-Za-z_]\w*)[=\s]/.exec(line)?.[1] ?? null;
}

/** Returns the value such a line sets, as far as it is known without running the line; otherwise its source. */
export function readValue(shell: Shell, line: string): string {
  const source = line.replace(/^\s*(?:export|set -gx)\s+\w+[=\s]\s*/, "").trimEnd();
  return unquoteShell(source, shell) ?? source;
}
