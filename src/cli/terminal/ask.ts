import { once } from "node:events";
import { createInterface } from "node:readline";
import { toPrintable } from "../../core/text/printable.ts";

/** Asks on standard error and reads one line, trimmed; null when the input ends. Ctrl-C ends the program. */
export async function askLine(question: string): Promise<string | null> {
  process.stderr.write(toPrintable(question));
  // Not in raw mode: the terminal edits the line, and turns Ctrl-C into a signal.
  const lines = createInterface({ input: process.stdin, terminal: false });
  const [answer] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  lines.close();
  if (answer === undefined) process.stderr.write("\n");
  return answer?.trim() ?? null;
}
