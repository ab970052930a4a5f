import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { CommandResult } from "../daemon/daemon.ts";
import { listProcesses } from "./processes.ts";

const LIMIT_MS = 120_000;

/** Where a tool runs: its own home, and nothing of the tester's. */
export interface ToolRoom {
  home: string;
  work: string;
  env: Record<string, string>;
}

/** Runs a program to its end, two minutes at most, on empty standard input; and ends all that it started. */
export async function runBounded(
  t: TestContext,
  [file = "", ...args]: readonly string[],
  { home, work, env }: ToolRoom,
): Promise<CommandResult> {
  const child = spawn(file, args, {
    cwd: work,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const end = () => {
    endGroup(child.pid);
    endLeftOver(home);
  };
  t.after(end);
  const timer = setTimeout(end, LIMIT_MS);
  const exit = once(child, "exit").then(([code]) => {
    clearTimeout(timer);
    // What stays behind would hold the outputs open.
    end();
    return code as number | null;
  });
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

function endGroup(pid: number | undefined): void {
  if (pid !== undefined) kill(-pid);
}

/** Ends what runs with this directory, or one below it, for its home: some tools leave a daemon behind, in no group of theirs. */
export function endLeftOver(directory: string): void {
  if (process.platform !== "linux") return;
  const isOurs = (variable: string) => `${variable}/`.startsWith(`HOME=${directory}/`);
  const ours = listProcesses().filter(({ environ }) => environ.split("\0").some(isOurs));
  for (const { pid } of ours) kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
