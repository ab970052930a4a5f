import { Failure } from "../../core/failure.ts";

/** What a shell reports for a program that Ctrl-C ended: 128 and SIGINT's number. */
const INTERRUPTED = 130;

/** More than any key; a wrong file piped in is told so, and not read to its end. */
const MAX_INPUT_LENGTH = 64 * 1024;

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const ENTER = new Set(["\r", "\n", CTRL_D]);
const RUB_OUT = new Set(["\u007f", "\b"]);

/** A secret typed at the terminal, or all of standard input where that is no terminal. */
export function readSecretText(question: string): Promise<string> {
  return process.stdin.isTTY ? readHidden(question) : readStandardInput();
}

/**
 * Asks on standard error and reads one line from the terminal, of which nothing is shown, not even its length.
 * Backspace and Ctrl-U correct it, Enter or the end of a pasted line ends it, Ctrl-C ends the program.
 */
function readHidden(question: string): Promise<string> {
  const terminal = process.stdin;
  // Before the question, so that nothing of an answer that comes at once is echoed.
  terminal.setRawMode(true);
  terminal.setEncoding("utf8");
  process.stderr.write(question);
  return new Promise((resolve) => {
    let line = "";
    const close = () => {
      terminal.off("data", take).off("end", finish).pause().setRawMode(false);
      process.stderr.write("\n");
    };
    const finish = () => {
      close();
      resolve(line);
    };
    const take = (typed: string) => {
      for (const char of typed) {
        if (char === CTRL_C) {
          close();
          process.exit(INTERRUPTED);
        }
        if (ENTER.has(char)) return finish();
        line = edit(line, char);
      }
    };
    terminal.on("data", take).once("end", finish);
  });
}

function edit(line: string, char: string): string {
  if (char === CTRL_U) return "";
  return RUB_OUT.has(char) ? line.slice(0, -1) : line + char;
}

async function readStandardInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_INPUT_LENGTH) {
      throw new Failure("standard input holds far more than a key", "give the key alone, on one line");
    }
  }
  return text;
}
