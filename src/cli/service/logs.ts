import { spawn } from "node:child_process";
import { once } from "node:events";
import { Failure } from "../../core/failure.ts";
import { EXIT, note } from "../terminal/console.ts";
import { openServiceManager } from "./open-manager.ts";

/** Shows the service's log on this terminal. */
export async function showLogs(options: { lines: number; follow: boolean }): Promise<void> {
  const manager = await openServiceManager();
  if ((await manager.lastLines(1)).length === 0) {
    note("note: the log holds nothing that this user may read");
  }
  await showOnTerminal(manager.logsCommand(options));
}

/** The command gets the terminal, and Ctrl-C is for it: that is how one ends it, and no failure. */
async function showOnTerminal([file = "", ...args]: string[]): Promise<void> {
  let isInterrupted = false;
  process.on("SIGINT", () => (isInterrupted = true));
  const child = spawn(file, args, { stdio: "inherit" });
  const [code] = (await once(child, "exit").catch((error: unknown) => {
    throw cannotShow(file, error);
  })) as [number | null];
  process.exitCode = isInterrupted ? EXIT.done : (code ?? EXIT.failed);
}

function cannotShow(file: string, cause: unknown): Failure {
  return new Failure(
    `the log cannot be shown: ${file} is not there, or cannot be run`,
    "install it, or look where this system keeps its logs: /var/log",
    { cause },
  );
}
