import type { Argv, CommandModule } from "yargs";
import type { Command } from "../command.ts";
import { installService } from "../service/install.ts";
import { showLogs } from "../service/logs.ts";
import { startService } from "../service/start.ts";
import { showServiceStatus } from "../service/status.ts";
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
  handler: ({ config, dryRun }) => startService("start", config, dryRun),
};

const restartCommand: CommandModule<object, ChangeArguments> = {
  command: "restart",
  describe: "Stop it, letting running streams finish, and start it again",
  builder: changeOptions,
  handler: ({ config, dryRun }) => startService("restart", config, dryRun),
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
  handler: ({ config, json }) => showServiceStatus(config, json),
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

/** `tollkeeper service`: manages the daemon as a service of systemd or launchd. */
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
