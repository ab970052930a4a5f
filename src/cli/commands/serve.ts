import { resolve } from "node:path";
import { configPath } from "../../adapters/paths.ts";
import { prepareProcess, startDaemon } from "../../daemon/start.ts";
import type { Command } from "../command.ts";
import { EXIT, print } from "../terminal/console.ts";
import type { ServeArguments } from "./serve/arguments.ts";
import { welcome } from "./serve/welcome.ts";

/** `tollkeeper serve`: runs the daemon in the foreground, which is what a service manager expects. */
export const command: Command<ServeArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("debug", { type: "boolean", default: false, describe: "Log refused requests too" })
      .option("log-file", { type: "string", describe: "Log there, and rotate it; default: standard error" }),
  handler: serve,
};

/** Runs the daemon until it is told to stop. Throws a Failure when it cannot start. */
export async function serve({ config, debug, logFile }: ServeArguments): Promise<void> {
  const log = prepareProcess({ debug, logFile: logFile === undefined ? null : resolve(logFile) });
  try {
    const daemon = await startDaemon(config ?? configPath(), log);
    // For the person at the terminal, not for the journal.
    const isInJournal = log.isPersistent && logFile === undefined;
    if (!isInJournal) for (const line of welcome(daemon.port, daemon.config)) print(line);
    await daemon.stopped;
  } catch (error) {
    // The failure is in the log file. On standard error, a service manager's retries would fill another file with it.
    if (logFile === undefined || process.stderr.isTTY) throw error;
    process.exitCode = EXIT.failed;
  }
}
