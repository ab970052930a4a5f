import { Failure } from "../../core/failure.ts";
import { EXIT } from "./console.ts";

/** More than any key. A wrong file that is piped in is rejected without being read to its end. */
const MAX_INPUT_LENGTH = 64 * 1024;

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const LINE_ENDS = new Set(["\r", "\n", CTRL_D]);
const BACKSPACES = new Set(["\u007f", "\b"]);

/** Reads a secret: typed at the terminal without echo, or all of standard input when that is not a terminal. */
export function readSecretText(question: string): Promise<string> {
  return process.stdin.isTTY ? readHidden(question) : readStandardInput();
}

/**
 * Asks on standard error and reads one line from the terminal without echo. Backspace and Ctrl-U edit it, Enter or the
 * end of a pasted line completes it, Ctrl-C ends the program.
 */
function readHidden(question: string): Promise<string> {
  const terminal = process.stdin;
  // Set before the question is shown, so that early input is not echoed either.
  terminal.setRawMode(true);
  terminal.setEncoding("utf8");
  process.stderr.write(question);
  return new Promise((resolve) => {
    let line = "";
    const close = () => {
      terminal.off("data", onData).off("end", finish).pause().setRawMode(false);
      process.stderr.write("\n");
    };
    const finish = () => {
      close();
      resolve(line);
    };
    const onData = (typed: string) => {
      for (const char of typed) {
        if (char === CTRL_C) {
          close();
          process.exit(EXIT.interrupted);
        }
        if (LINE_ENDS.has(char)) return finish();
        line = edit(line, char);
      }
    };
    // A question that was answered before has paused the input, and a listener alone does not resume it.
    terminal.on("data", onData).once("end", finish).resume();
  });
}

function edit(line: string, char: string): string {
  if (char === CTRL_U) return "";
  return BACKSPACES.has(char) ? line.slice(0, -1) : line + char;
}

async function readStandardInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_INPUT_LENGTH) {
      throw new Failure("standard input is far longer than a key", "give the key alone, on one line");
    }
  }
  return text;
}
