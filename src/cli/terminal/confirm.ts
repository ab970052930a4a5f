import { once } from "node:events";
import { createInterface } from "node:readline";
import { toPrintable } from "../../core/text/printable.ts";

/** True when there is a terminal on which a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks a question on standard error. Resolves with true for `y` or `yes`. Ctrl-C ends the program. */
export async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${toPrintable(question)} [y/N] `);
  // Not in raw mode: the terminal edits the line, and turns Ctrl-C into a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  const [answer] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  lines.close();
  if (answer === undefined) process.stderr.write("\n");
  return /^\s*y(?:es)?\s*$/i.test(answer ?? "");
}
