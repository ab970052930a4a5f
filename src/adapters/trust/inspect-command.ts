import { open } from "node:fs/promises";
import { basename } from "node:path";
import { findExecutable } from "../programs/executables.ts";
import { followPath, judge, type Exposure } from "./exposure.ts";

/** What running a command would run, and through what somebody else could change that. */
interface InspectedCommand {
  /** The path of its program, to be run in place of the name: a search of the PATH could find another one. null when there is none. */
  program: string | null;
  exposure: Exposure | null;
}

/** How much of a program is read for its `#!` line. The kernel reads as much (execve(2)). */
const FIRST_BYTES = 256;

/**
 * Examines a command line before it is run: its program, the interpreter that a script names, and the files that its arguments name.
 * A command within an argument, as of `sh -c`, is not taken apart.
 * @param searchPath as of PATH
 */
export async function inspectCommand(
  [file, ...args]: readonly [string, ...string[]],
  searchPath: string,
): Promise<InspectedCommand> {
  const program = find(file, searchPath);
  if (program === null) return { program, exposure: null };
  const interpreter = await findInterpreter(program, searchPath);
  // Of `--file=/some/path`, the path.
  const named = args.map((arg) => arg.slice(arg.indexOf("=") + 1)).filter((arg) => arg.includes("/"));
  for (const path of [program, ...interpreter, ...named]) {
    const followed = followPath(path);
    const exposure = followed.target?.isFile() === true ? await judge(followed, "us") : null;
    if (exposure !== null) return { program, exposure };
  }
  return { program, exposure: null };
}

function find(file: string, searchPath: string): string | null {
  return file.includes("/") ? file : findExecutable(file, searchPath);
}

/** Returns the programs of a script's first line: none, one, or `env` and the one that it looks for. */
async function findInterpreter(program: string, searchPath: string): Promise<string[]> {
  const [interpreter, name] = await readInterpreter(program);
  if (interpreter === undefined) return [];
  const found = basename(interpreter) === "env" && name !== undefined ? find(name, searchPath) : null;
  return found === null ? [interpreter] : [interpreter, found];
}

async function readInterpreter(program: string): Promise<string[]> {
  try {
    const file = await open(program);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_BYTES), 0, FIRST_BYTES, 0);
      const [line = ""] = buffer.toString("utf8", 0, bytesRead).split("\n", 1);
      if (!line.startsWith("#!")) return [];
      return line
        .slice(2)
        .split(/\s+/)
        .filter((word) => word !== "" && word !== "-S");
    } finally {
      await file.close();
    }
  } catch {
    // A program that may be run and not be read is no script.
    return [];
  }
}
