import { Failure } from "../../core/failure.ts";
import { readTyped } from "./read-typed.ts";

/** More than any key. A wrong file that is piped in is rejected without being read to its end. */
const MAX_INPUT_LENGTH = 64 * 1024;

/** Reads a secret: typed at the terminal without echo, or all of standard input when that is not a terminal. */
export async function readSecretText(question: string): Promise<string> {
  if (!process.stdin.isTTY) return readStandardInput();
  return (await readTyped(question, () => false)) ?? "";
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
