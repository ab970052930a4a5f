import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { CommandResult } from "./daemon.ts";

/** The compiled program, as its users run it; test/run.ts builds it first. Starts in half the time that tsx needs. */
export const PROGRAM = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** Runs a command of it to its end, `input` on its standard input, which is no terminal. */
export async function runProgram(
  args: readonly string[],
  { env, cwd, input = "" }: { env: NodeJS.ProcessEnv; cwd?: string; input?: string },
): Promise<CommandResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, cwd });
  // A program that refuses its arguments does not read.
  child.stdin.on("error", () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}
