import { once } from "node:events";
import { createInterface } from "node:readline";
import { sanitizeText } from "../../core/config/problem.ts";
import { probableKey } from "../../core/secrets/api-key.ts";
import { holdsAccessKeys } from "../../core/secrets/aws-keys.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { readTyped } from "./read-typed.ts";

/** An address without a login or a query, whose path may have long ids. */
const PLAIN_ADDRESS = /^https?:\/\/[^@?\s]*$/;

/** True for a line that holds nothing that looks like a key. */
function isHarmless(line: string): boolean {
  if (PLAIN_ADDRESS.test(line) && !line.includes("sk-")) return true;
  return sanitizeText(line) === line && probableKey(line) === null && !holdsAccessKeys(line);
}

/**
 * Asks on standard error and reads one line, trimmed; null when the input ends. Ctrl-C ends the program.
 * @param mayShow whether a terminal may show the line as it has been typed so far. By default it shows no key
 */
export async function askLine(
  question: string,
  mayShow: (line: string) => boolean = isHarmless,
): Promise<string | null> {
  const answer = process.stdin.isTTY
    ? await readTyped(toPrintable(question), mayShow)
    : await readPipedLine(question);
  return answer?.trim() ?? null;
}

async function readPipedLine(question: string): Promise<string | null> {
  process.stderr.write(toPrintable(question));
  const lines = createInterface({ input: process.stdin, terminal: false });
  const [answer] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?];
  lines.close();
  if (answer === undefined) process.stderr.write("\n");
  return answer ?? null;
}
