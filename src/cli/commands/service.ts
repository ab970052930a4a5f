import type { ArgumentsCamelCase, Argv, CommandModule } from "yargs";
import { readConfigFile } from "../../adapters/config-file.ts";
import type { Command } from "../command.ts";
import { EXIT, print } from "../terminal/console.ts";
import { loadConfig } from "../keys/target.ts";
import { configPath } from "../../adapters/paths.ts";
import { findCause } from "../service/find-cause.ts";
import { installService } from "../service/install.ts";
import { showLogs } from "../service/logs.ts";
import { openServiceManager } from "../service/open-manager.ts";
import { carryOut, startByPlan, tellOpenExchanges } from "../service/plan.ts";
import { refuseConflicts } from "../service/conflicts.ts";
import { renderService, reportService } from "../service/status.ts";
import { stopService } from "../service/stop.ts";
import { uninstallService } from "../service/uninstall.ts";

interface ServiceArguments {
  config?: string | undefined;
}

interface ChangeArguments extends ServiceArguments {
  "dry-run": boolean;
}

const installCommand: CommandModule<object, ChangeArguments> = {
  command: "install",
  describe: "Install, enable and start the daemon as your service, or bring an installed one up to date",
  builder: changeOptions,
  handler: ({ config, dryRun }) => installService(config, dryRun),
};

const uninstallCommand: CommandModule<object, ChangeArguments> = {
  command: "uninstall",
  describe: "Stop it and take it away again; configuration and ledger stay",
  builder: changeOptions,
  handler: ({ config, dryRun }) => uninstallService(config, dryRun),
};

const startCommand: CommandModule<object, ChangeArguments> = {
  command: "start",
  describe: "Start it",
  builder: changeOptions,
  handler: (argv) => start(argv, "start"),
};

const restartCommand: CommandModule<object, ChangeArguments> = {
  command: "restart",
  describe: "Stop it, letting running streams finish, and start it again",
  builder: changeOptions,
  handler: (argv) => start(argv, "restart"),
};

const stopCommand: CommandModule<object, ChangeArguments> = {
  command: "stop",
  describe: "Stop it, or a daemon that was started by hand, letting running streams finish",
  builder: changeOptions,
  handler: ({ dryRun }) => stopService(dryRun),
};

const statusCommand: CommandModule<object, ServiceArguments & { json: boolean }> = {
  command: "status",
  describe: "Show whether it is installed, enabled and running; exits 0 when it runs",
  builder: (yargs) => yargs.option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ config, json }) => {
    const manager = await openServiceManager();
    const state = await manager.state();
    const reading = await readConfigFile(config ?? state.configFile ?? configPath());
    const cause = await findCause(manager, state);
    const report = reportService(manager.name, state, reading.ok ? reading.config : null, cause);
    if (json) print(JSON.stringify(report, null, 2));
    else for (const line of renderService(report)) print(line);
    if (!json && report.isRunning) print("what the daemon does: tollkeeper status");
    if (!report.isRunning) process.exitCode = EXIT.failed;
  },
};

const logsCommand: CommandModule<object, { lines: number; follow: boolean }> = {
  command: "logs",
  describe: "Show the newest lines of its log",
  builder: (yargs) =>
    yargs
      .option("lines", { alias: "n", type: "number", default: 50, describe: "How many lines" })
      .option("follow", { alias: "f", type: "boolean", default: false, describe: "Go on with new lines" })
      .check(({ lines }) => (Number.isInteger(lines) && lines > 0) || "-n must be a whole number above 0"),
  handler: ({ lines, follow }) => showLogs({ lines, follow }),
};

/** `tollkeeper service`: the daemon as a service of systemd or launchd. */
export const command: Command<object> = {
  builder: (yargs): Argv<object> =>
    yargs
      .command(installCommand)
      .command(uninstallCommand)
      .command(startCommand)
      .command(stopCommand)
      .command(restartCommand)
      .command(statusCommand)
      .command(logsCommand)
      .demandCommand(1, "say what to do with it: install, uninstall, start, stop, restart, status or logs"),
  handler: () => {},
};

function changeOptions(yargs: Argv<object>): Argv<ChangeArguments> {
  return yargs.option("config", { type: "string" }).option("dry-run", {
    type: "boolean",
    default: false,
    describe: "Only show every file and command",
  });
}

/** A daemon with a broken configuration would not start, so that is looked at first. */
async function start(
  { config: path, dryRun }: ArgumentsCamelCase<ChangeArguments>,
  how: "start" | "restart",
): Promise<void> {
  const manager = await openServiceManager();
  const state = await manager.state();
  const { port } = (await loadConfig(path ?? state.configFile ?? configPath())).listen;
  const running = dryRun ? null : await refuseConflicts(state, port, `tollkeeper service ${how}`);
  const plan = await manager[how]();
  if (dryRun) {
    await carryOut(plan, true);
    return;
  }
  if (how === "restart" && running !== null) tellOpenExchanges(running);
  const { pid, listening } = await startByPlan(manager, plan, port);
  print(`tollkeeper runs (pid ${pid}) and listens on ${listening.join(" and ")}`);
}
