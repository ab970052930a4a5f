import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLimit } from "../async/limit.ts";
import type { CommandResult } from "./daemon.ts";

/** The compiled program, which test/run.ts builds. It starts twice as fast as the source does with tsx. */
const COMPILED = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** The program by the name under which it is installed, which is the one that its messages then use. */
export const PROGRAM = linkProgram();

function linkProgram(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-program-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  // Some tests run it as another user.
  chmodSync(directory, 0o755);
  const link = join(directory, "tollkeeper");
  symlinkSync(COMPILED, link);
  return link;
}

/** Resolves when the program has ended. Rejects with its output so far when it never does. */
export async function resultOf(child: ChildProcess, args: readonly string[]): Promise<CommandResult> {
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => (output[name] += text));
  const closed = once(child, "close") as Promise<[number | null]>;
  const [code] = await withLimit(
    closed,
    () => `the end of tollkeeper ${args.join(" ")}, which printed:\n${output.stdout}${output.stderr}`,
  );
  return { code, ...output };
}
