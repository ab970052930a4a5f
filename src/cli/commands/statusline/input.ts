import { basename } from "node:path";
import type { ReadStream } from "node:tty";
import { isObject, parseJson, type JsonObject } from "../../../core/json.ts";

/** What the tool that shows the line says of itself. Whatever it does not say is null. */
export interface StatuslineInput {
  session: string | null;
  /** Name of the model, for people. */
  model: string | null;
  /** Base name of the directory. */
  directory: string | null;
}

const NOTHING: StatuslineInput = { session: null, model: null, directory: null };

/** A tool writes its JSON at once. Somebody else's pipe may never be written to, and a prompt must not wait for it. */
const WAIT_MS = 100;
/** Several hundred times what Claude Code writes. */
const MAX_CHARACTERS = 1_000_000;

/** Reads Claude Code's JSON on standard input (https://code.claude.com/docs/en/statusline). Never rejects: there need not be any. */
export async function readInput(): Promise<StatuslineInput> {
  try {
    const { stdin } = process;
    return stdin.isTTY ? NOTHING : parseInput(await readAll(stdin));
  } catch {
    return NOTHING;
  }
}

/** Picks what the line shows. */
export function parseInput(text: string): StatuslineInput {
  const top = parseJson(text);
  if (!isObject(top)) return NOTHING;
  const model = objectIn(top, "model");
  const directory = textIn(objectIn(top, "workspace"), "current_dir") ?? textIn(top, "cwd");
  return {
    session: textIn(top, "session_id"),
    model: textIn(model, "display_name") ?? textIn(model, "id"),
    directory: directory === null ? null : basename(directory),
  };
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

function textIn(object: JsonObject, name: string): string | null {
  const value = object[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** Resolves to what there is until the end of the input, or when it takes too long or is too much. */
function readAll(stdin: ReadStream): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const finish = () => {
      clearTimeout(timer);
      stdin.destroy();
      resolve(text);
    };
    const timer = setTimeout(finish, WAIT_MS);
    stdin.setEncoding("utf8");
    stdin.on("data", (more: string) => {
      text += more;
      if (text.length > MAX_CHARACTERS) finish();
    });
    stdin.on("end", finish);
    stdin.on("error", finish);
  });
}
