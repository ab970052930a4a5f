import { once } from "node:events";
import { createInterface } from "node:readline";
import { printable } from "../../core/text/printable.ts";

/** Is there a person who can be asked? */
export function isAnybodyThere(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks on standard error, and reads the answer from the terminal: yes is `y` or `yes`, all else is no. Ctrl-C ends the
 * program.
 */
export async function askWhether(question: string): Promise<boolean> {
  process.stderr.write(`${printable(question)} [y/N] `);
  // The terminal itself edits the line, and makes a signal of Ctrl-C.
  const lines = createInterface({ input: process.stdin, terminal: false });
  const [answer] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  lines.close();
  if (answer === undefined) process.stderr.write("\n");
  return /^\s*y(?:es)?\s*$/i.test(answer ?? "");
}
