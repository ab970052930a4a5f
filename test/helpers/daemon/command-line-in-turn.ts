import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { withLimit } from "../async/limit.ts";
import type { CommandResult } from "./daemon.ts";
import { PROGRAM } from "./program.ts";

const RUNNER = fileURLToPath(new URL("./commands-in-turn.mjs", import.meta.url));

/**
 * Opens the compiled program for many short commands, which run one after another in one process: a process of its own costs each of them
 * 0.1 s. For commands that read no input and end by themselves, where not the process is the subject. It ends with the test.
 */
export function openCommandLine(
  t: { after(close: () => void): void },
  env: Record<string, string>,
  cwd?: string,
): (...args: string[]) => Promise<CommandResult> {
  const child = fork(RUNNER, [PROGRAM], { env, cwd, execArgv: [], silent: true });
  t.after(() => child.disconnect());
  let before: Promise<unknown> = Promise.resolve();
  return (...args) => {
    const result = before.then(async () => {
      child.send(args);
      const answer = Promise.race([
        once(child, "message") as Promise<[CommandResult]>,
        once(child, "exit").then(([code]) => {
          throw new Error(`tollkeeper ${args.join(" ")} ended its process with ${code}`);
        }),
      ]);
      const [found] = await withLimit(answer, () => `the end of tollkeeper ${args.join(" ")}`);
      return found;
    });
    before = result.catch(() => {});
    return result;
  };
}
