import { askBriefly } from "../../../adapters/control-socket/ask-briefly.ts";
import { isObject } from "../../../core/json.ts";

/** Before the next question. */
const PAUSE_MS = 30;

/**
 * Asks the daemon that listens on `path` for the facts of a status line, and again while it is reading the ledger. Never rejects.
 * @param patienceMs how long all of it may take; then the last answer is the one
 */
export async function askUntilRead(
  path: string,
  question: string,
  patienceMs: number,
): ReturnType<typeof askBriefly> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const answer = await askBriefly(path, question, end - performance.now());
    const isReading =
      answer.kind === "answer" && isObject(answer.value) && answer.value["isReading"] === true;
    if (!isReading || performance.now() + 2 * PAUSE_MS > end) return answer;
    // Not of node:timers/promises, which would have to be loaded.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
