import { resolve } from "node:path";
import { configPath } from "../../adapters/paths.ts";
import { programName } from "../../adapters/program.ts";
import type { Config } from "../../core/config/config.ts";
import { prepareProcess, startDaemon } from "../../daemon/start.ts";
import type { Command } from "../command.ts";
import { optionInUse } from "../config-in-use.ts";
import { refuseForeignHome } from "../refuse-foreign-home.ts";
import { noteMisnamedConfig } from "../note-other-config.ts";
import { EXIT, print } from "../terminal/console.ts";
import type { ServeArguments } from "./serve/arguments.ts";

/** `tollkeeper serve`: runs the daemon in the foreground, which is what a service manager expects. */
export const command: Command<ServeArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("debug", { type: "boolean", default: false, describe: "Log each refused request" })
      .epilogue(
        [
          "Signals: SIGTERM, SIGINT and SIGQUIT stop the daemon after running streams finish (limits.drainMs); a second signal stops it at once.",
          "SIGHUP reloads configuration, keys and tokens and reopens the log file. SIGUSR1, SIGUSR2 and SIGALRM do nothing.",
        ].join(" "),
      )
      .option("log-file", {
        type: "string",
        describe: "Write the log to this file and rotate it; default: standard error",
      }),
  handler: serve,
};

/** Runs the daemon until it is told to stop. Throws a Failure when it cannot start. */
export async function serve({ config, debug, logFile }: ServeArguments): Promise<void> {
  refuseForeignHome("serve");
  const log = prepareProcess({
    debug,
    logFile: logFile === undefined ? null : resolve(logFile),
    configOption: optionInUse(),
  });
  try {
    const daemon = await startDaemon(config ?? configPath(), log);
    // For the person at the terminal, not for the journal.
    const isInJournal = log.isPersistent && logFile === undefined;
    if (!isInJournal) for (const line of await welcome(daemon.port, daemon.config)) print(line);
    noteMisnamedConfig(config ?? configPath());
    await daemon.stopped;
  } catch (error) {
    // The failure is in the log file. On standard error, a service manager's retries would fill another file with it.
    if (logFile === undefined || process.stderr.isTTY) throw error;
    process.exitCode = EXIT.failed;
  }
}

async function welcome(port: number, { upstreams }: Config): Promise<string[]> {
  const baseUrls = Object.values(upstreams).map(({ baseUrl }) => baseUrl);
  if (baseUrls.length === 0) return sandboxWelcome(port);
  return [`tollkeeper listens on http://127.0.0.1:${port} and forwards to ${baseUrls.join(", ")}`];
}

/** Tells new users what to type next while the sandbox serves. Loads what only they need. */
async function sandboxWelcome(port: number): Promise<string[]> {
  const { GENERAL_PROFILE } = await import("../../sandbox/profiles.ts");
  const { sampleRequests } = await import("./sandbox/sample-requests.ts");
  const base = `http://127.0.0.1:${port}`;
  const me = programName();
  return [
    "",
    `tollkeeper listens on ${base}. No upstream is configured, so the built-in SANDBOX responds`,
    "with made-up models, text and token counts. Nothing leaves this machine. Try each route:",
    "",
    ...sampleRequests(`${base}/v1`, GENERAL_PROFILE, null).map((request) => `  ${request}`),
    "",
    "Then see how many tokens each tool used:",
    "",
    `  ${me} usage`,
    "",
    "For real use, set up your service and its key:",
    "",
    `  ${me} setup`,
    "",
  ];
}
