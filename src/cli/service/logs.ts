import { spawn } from "node:child_process";
import { once } from "node:events";
import { Failure } from "../../core/failure.ts";
import { EXIT, note } from "../terminal/console.ts";
import { findServiceManager } from "../../service/find-manager.ts";

/** Shows the service's log on this terminal. */
export async function showLogs(options: { lines: number; follow: boolean }): Promise<void> {
  const manager = await findServiceManager();
  if ((await manager.lastLines(1)).length === 0) {
    note("note: the log holds nothing that this user may read");
  }
  await showOnTerminal(manager.logsCommand(options));
}

/** Runs a command on this terminal. Ctrl-C goes to the command and counts as success. */
async function showOnTerminal([file = "", ...args]: string[]): Promise<void> {
  let isInterrupted = false;
  process.on("SIGINT", () => (isInterrupted = true));
  const child = spawn(file, args, { stdio: "inherit" });
  const [code] = (await once(child, "exit").catch((cause: unknown) => {
    const message = `the log cannot be shown: ${file} is not there, or cannot be run`;
    throw new Failure(message, "install it, or look where this system keeps its logs: /var/log", { cause });
  })) as [number | null];
  process.exitCode = isInterrupted ? EXIT.done : (code ?? EXIT.failed);
}
