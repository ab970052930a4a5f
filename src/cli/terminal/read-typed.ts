import { stripVTControlCharacters } from "node:util";
import { EXIT } from "./console.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const LINE_ENDS = new Set(["\r", "\n", CTRL_D]);
const BACKSPACES = new Set(["\u007f", "\b"]);

/**
 * Asks on standard error and reads one line from the terminal, which shows only what `mayShow` accepts of it: a key that is pasted at a
 * question about something else must not be on the screen. Backspace and Ctrl-U edit the line, Enter or the end of a pasted line
 * completes it, Ctrl-C ends the program.
 * @returns null when the input ends before anything is typed
 */
export function readTyped(question: string, mayShow: (line: string) => boolean): Promise<string | null> {
  const terminal = process.stdin;
  // Set before the question is shown, so that early input is not echoed either.
  terminal.setRawMode(true);
  terminal.setEncoding("utf8");
  process.stderr.write(question);
  return new Promise((resolve) => {
    let line = "";
    let shown = "";
    const close = (last: string) => {
      terminal.off("data", onData).off("end", onEnd).pause().setRawMode(false);
      process.stderr.write(`${last}\n`);
    };
    const finish = () => {
      show();
      close("");
      resolve(line);
    };
    const onEnd = () => {
      close("");
      resolve(line === "" ? null : line);
    };
    const show = () => {
      const next = mayShow(line) ? line : "";
      process.stderr.write(redraw(shown, next));
      shown = next;
    };
    const onData = (typed: string) => {
      // Arrows and other keys are several characters.
      for (const char of stripVTControlCharacters(typed)) {
        if (char === CTRL_C) {
          close("");
          process.exit(EXIT.interrupted);
        }
        if (char === CTRL_D && line === "") return onEnd();
        if (LINE_ENDS.has(char)) return finish();
        line = edit(line, char);
      }
      // A pasted text is judged as a whole before any of it is shown.
      show();
    };
    // A question that was answered before has paused the input, and a listener alone does not resume it.
    terminal.on("data", onData).once("end", onEnd).resume();
  });
}

function edit(line: string, char: string): string {
  if (char === CTRL_U) return "";
  if (BACKSPACES.has(char)) return Array.from(line).slice(0, -1).join("");
  return char < " " ? line : line + char;
}

/** Returns what turns the shown text into the next one on a terminal. */
function redraw(shown: string, next: string): string {
  if (next.startsWith(shown)) return next.slice(shown.length);
  return "\b \b".repeat(Array.from(shown).length) + next;
}
