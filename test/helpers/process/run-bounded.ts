import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { LIMIT_MS } from "../async/limit.ts";
import type { CommandResult } from "../daemon/daemon.ts";
import { listProcesses } from "./processes.ts";
import type { Scope } from "./scratch-directory.ts";

/** Where a tool runs: a home directory of its own, with nothing of the tester's. */
export interface ToolHome {
  home: string;
  work: string;
  env: Record<string, string>;
}

/** Runs a program with empty standard input for {@link LIMIT_MS} at most, and kills everything that it has started. */
export async function runBounded(
  t: Scope,
  [file = "", ...args]: readonly string[],
  { home, work, env }: ToolHome,
): Promise<CommandResult> {
  const child = spawn(file, args, {
    cwd: work,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const killAll = () => {
    killGroup(child.pid);
    killLeftovers(home);
  };
  t.after(killAll);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killAll();
  }, LIMIT_MS);
  const exit = once(child, "exit").then(([code]) => {
    clearTimeout(timer);
    // Remaining processes would hold the output pipes open.
    killAll();
    return code as number | null;
  });
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  if (isLate) {
    const line = [file, ...args].join(" ");
    throw new Error(`${line} has not ended within ${LIMIT_MS / 1000} s; it printed:\n${stdout}${stderr}`);
  }
  return { code, stdout, stderr };
}

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) kill(-pid);
}

/** Kills processes whose HOME is this directory or one below it: some tools leave a daemon in a process group of its own. */
export function killLeftovers(directory: string): void {
  if (process.platform !== "linux") return;
  const isOurs = (variable: string) => `${variable}/`.startsWith(`HOME=${directory}/`);
  const ours = listProcesses().filter(({ environ }) => environ.split("\0").some(isOurs));
  for (const { pid } of ours) kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}
