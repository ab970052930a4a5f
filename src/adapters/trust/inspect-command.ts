import { open } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
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
 * Examines a command line before it is run: its program, the interpreter that a script names, and the files and directories that
 * arguments name. One that is missing counts, too, where its directory exists: interpreters add endings to names, and others could put
 * it there. A command within an argument, as of `sh -c`, is not taken apart.
 * @param searchPath as of PATH
 */
export async function inspectCommand(
  [file, ...args]: readonly [string, ...string[]],
  searchPath: string,
): Promise<InspectedCommand> {
  const program = find(file, searchPath);
  if (program === null) return { program, exposure: null };
  const interpreter = await findInterpreter(program, searchPath);
  for (const path of [program, ...interpreter, ...args.flatMap(pathIn)]) {
    const followed = followPath(path);
    // Whoever may write to a device changes nothing in it.
    const isDevice =
      followed.target?.isCharacterDevice() === true || followed.target?.isBlockDevice() === true;
    const exposure = isDevice ? null : await judge(followed, "us");
    if (exposure !== null) return { program, exposure };
  }
  return { program, exposure: null };
}

/** Returns the path in an argument: of `--file=/some/path` and `file:///some/path`, too. A name alone may be a file of the working directory. */
function pathIn(arg: string): string[] {
  const value = arg.slice(arg.indexOf("=") + 1);
  const path = toPath(value);
  if (path === null) return [];
  return existsSync(path) || (path.includes("/") && existsSync(dirname(path))) ? [path] : [];
}

/** Returns null for the address of something that is no file, such as `op://vault/item`. */
function toPath(value: string): string | null {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return value === "" ? null : value;
  try {
    return fileURLToPath(value);
  } catch {
    return null;
  }
}

function find(file: string, searchPath: string): string | null {
  return file.includes("/") ? file : findExecutable(file, searchPath);
}

/** Returns what a script's first line runs: nothing, or a program, the one that `env` looks for, and the files that are named to them. */
async function findInterpreter(program: string, searchPath: string): Promise<string[]> {
  const [interpreter, ...words] = await readInterpreter(program);
  if (interpreter === undefined) return [];
  const name = words.find((word) => !word.startsWith("-") && !word.includes("="));
  const found = basename(interpreter) === "env" && name !== undefined ? find(name, searchPath) : null;
  return [interpreter, ...(found === null ? [] : [found]), ...words.flatMap(pathIn)];
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
