import { askLine } from "./ask.ts";
import { note } from "./console.ts";

/** True when there is a terminal on which a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks a question on standard error, again until the answer is `y`, `yes`, `n`, `no`, or an empty line for the default. The end of the
 * input means no. Ctrl-C ends the program.
 */
export async function confirm(question: string, isYesDefault = false): Promise<boolean> {
  for (;;) {
    const answer = await askYesNo(question, isYesDefault);
    if (typeof answer === "boolean") return answer;
    note(TYPE_Y_OR_N);
  }
}

/** What to say after an answer that is neither. */
export const TYPE_Y_OR_N = "Type y for yes, or n for no.";

/** Asks as {@link confirm} does, once. Resolves with whatever else was typed, which the terminal has not shown: it may be a key. */
export async function askYesNo(question: string, isYesDefault = false): Promise<boolean | string> {
  const answer = await askLine(`${question} ${isYesDefault ? "[Y/n]" : "[y/N]"} `, isBeginningOfAnswer);
  if (answer === null) return false;
  if (answer === "") return isYesDefault;
  if (/^y(?:es)?$/i.test(answer)) return true;
  return /^no?$/i.test(answer) ? false : answer;
}

function isBeginningOfAnswer(line: string): boolean {
  return ["yes", "no"].some((word) => word.startsWith(line.toLowerCase()));
}
