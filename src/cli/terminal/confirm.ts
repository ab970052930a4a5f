import { askLine } from "./ask.ts";

/** True when there is a terminal on which a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks a question on standard error. Resolves with true for `y` or `yes`, and for an empty line when `isYesDefault`. The end
 * of the input means no. Ctrl-C ends the program.
 */
export async function confirm(question: string, isYesDefault = false): Promise<boolean> {
  const answer = await askLine(`${question} ${isYesDefault ? "[Y/n]" : "[y/N]"} `);
  if (answer === null) return false;
  return answer === "" ? isYesDefault : /^y(?:es)?$/i.test(answer);
}
