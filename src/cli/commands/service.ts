import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readConfigFile } from "../../adapters/config-file.ts";
import { configPath, ledgerDirectory, stateDirectory } from "../../adapters/paths.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import { attempt } from "../attempt.ts";
import type { Argv } from "../command-line.ts";
import { reportOptions, type Command } from "../command.ts";
import { loadConfig } from "../load-config.ts";
import { refuseConflicts } from "../service/conflicts.ts";
import { explainNoManager, requireServiceManager } from "../service/explain-absence.ts";
import { diagnose } from "../service/diagnose.ts";
import { executePlan, executeStartPlan, printNotes, printRestart } from "../service/execute-plan.ts";
import { installService } from "../service/install.ts";
import { buildServiceReport, renderServiceReport } from "../service/report.ts";
import { stopService } from "../service/stop.ts";
import { replaceCommand } from "../service/other-program.ts";
import { EXIT, note, print, printJson } from "../terminal/console.ts";
import { printFacts } from "../terminal/facts.ts";

/** `tollkeeper service`: manages the daemon as a service of systemd or launchd. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command(
        "install",
        "Install, enable and start the background service, or update an installed one",
        changeOptions,
        ({ config, dryRun }) => installService(config, dryRun),
      )
      .command(
        "uninstall",
        "Stop and remove the service; keep configuration and ledger",
        changeOptions,
        ({ config, dryRun }) => uninstallService(config, dryRun),
      )
      .command("start", "Start the service", changeOptions, ({ config, dryRun }) =>
        startService("start", config, dryRun),
      )
      .command(
        "stop",
        "Stop the service, or a daemon started by hand, after running streams finish",
        changeOptions,
        ({ dryRun }) => stopService(dryRun),
      )
      .command(
        "restart",
        "Stop the service after running streams finish, then start it again",
        changeOptions,
        ({ config, dryRun }) => startService("restart", config, dryRun),
      )
      .command(
        "status",
        "Show whether the service is installed, enabled and running; exit with 0 when it runs",
        reportOptions,
        ({ config, json }) => showServiceStatus(config, json),
      )
      .command("logs", "Show the newest lines of the log", logsOptions, showLogs)
      .demandCommand(1, "a subcommand is missing: install, uninstall, start, stop, restart, status or logs"),
  handler: () => {},
};

function changeOptions(yargs: Argv<object>) {
  return yargs.option("config", { type: "string" }).option("dry-run", {
    type: "boolean",
    default: false,
    describe: "Show every file and command; change nothing",
  });
}

function logsOptions(yargs: Argv<object>) {
  return yargs
    .option("lines", { alias: "n", type: "number", default: 50, describe: "Number of lines" })
    .option("follow", { alias: "f", type: "boolean", default: false, describe: "Follow new lines" })
    .check(({ lines }) => (Number.isInteger(lines) && lines > 0) || "-n must be a whole number above 0");
}

/** Removes the service, or, with `dryRun`, shows the steps. Prints where configuration and ledger remain. */
async function uninstallService(configFile: string | undefined, dryRun: boolean): Promise<void> {
  const manager = await requireServiceManager();
  const path = configFile ?? (await manager.state()).configFile ?? configPath();
  const plan = await manager.uninstall();
  await executePlan(plan, dryRun);
  printNotes(plan);
  const reading = await readConfigFile(path);
  const ledger = reading.ok ? ledgerDirectory(reading.config) : stateDirectory();
  if (existsSync(path)) print(`kept: the configuration, ${path}`);
  if (existsSync(ledger)) print(`kept: the ledger, ${ledger}`);
}

/**
 * Starts or restarts the installed service, or, with `dryRun`, shows the steps. Loads the configuration first, because a
 * daemon does not start with an invalid one.
 */
async function startService(
  verb: "start" | "restart",
  configFile: string | undefined,
  dryRun: boolean,
): Promise<void> {
  const manager = await requireServiceManager();
  const state = await manager.state();
  const { port } = (await loadConfig(configFile ?? state.configFile ?? configPath())).listen;
  const running = dryRun ? null : await refuseConflicts(state, port, `tollkeeper service ${verb}`);
  const plan = await manager[verb]();
  if (dryRun) return executePlan(plan, true);
  if (verb === "restart" && running !== null) printRestart(running, state);
  const { pid, listening } = await executeStartPlan(manager, plan, port);
  print(`tollkeeper is running (pid ${pid}) and listens on ${listening.join(" and ")}`);
}

/** Prints the service's state as text or JSON. Sets exit code 1 unless the service is running. */
async function showServiceStatus(configFile: string | undefined, json: boolean): Promise<void> {
  const { value: manager, failure } = await attempt(Failure, () => findServiceManager());
  if (manager === null) return showDaemonStatus(failure, json);
  const state = await manager.state();
  const reading = await readConfigFile(configFile ?? state.configFile ?? configPath());
  const found = { problems: await manager.problems(), diagnosis: await diagnose(manager, state) };
  const report = buildServiceReport(manager.name, state, reading.ok ? reading.config : null, found);
  if (json) printJson(report);
  else for (const line of renderServiceReport(report)) print(line);
  if (!json && report.isRunning) print("to see what the daemon is doing, type: tollkeeper status");
  if (!report.isRunning) process.exitCode = EXIT.failed;
}

/** Prints that the daemon runs although there is no service manager. Throws where it does not, and for a program that asks. */
async function showDaemonStatus(failure: Failure, json: boolean): Promise<void> {
  const running = await daemonStatus().catch(() => null);
  if (running === null || json) throw await explainNoManager(failure);
  printFacts([
    ["daemon", `running, pid ${running.pid}, started by hand`],
    ["service", failure.message],
    ["", `to restart the daemon, type: ${replaceCommand(running, null)}`],
    ["", "to see what it is doing, type: tollkeeper status"],
  ]);
  process.exitCode = EXIT.failed;
}

const NO_LOG =
  "without a service, the log is on the terminal where tollkeeper was started; to have it in a file, start it with: tollkeeper serve --log-file ~/tollkeeper.log";

/** Shows the service's log on this terminal. */
async function showLogs(options: { lines: number; follow: boolean }): Promise<void> {
  const { value: manager, failure } = await attempt(Failure, () => requireServiceManager());
  if (failure !== null) throw new Failure(failure.message, NO_LOG, { cause: failure });
  if ((await manager.lastLines(1)).length === 0) {
    note("note: the log is empty, or you may not read it");
  }
  await showOnTerminal(manager.logsCommand(options));
}

/** Runs a command on this terminal. Ctrl-C goes to the command and counts as success. */
async function showOnTerminal([file = "", ...args]: string[]): Promise<void> {
  let isInterrupted = false;
  process.on("SIGINT", () => (isInterrupted = true));
  const child = spawn(file, args, { stdio: "inherit" });
  const [code, signal] = (await once(child, "exit").catch((cause: unknown) => {
    const message = `the log cannot be shown: ${file} is missing or cannot be run`;
    throw new Failure(message, "install it, or look for the log in /var/log", { cause });
  })) as [number | null, NodeJS.Signals | null];
  // Either may be noticed first: the signal here, or that the command has ended by it.
  const isStopped = isInterrupted || signal === "SIGINT";
  process.exitCode = isStopped ? EXIT.done : (code ?? EXIT.failed);
}
