import { readConfigFile } from "../../adapters/config-file.ts";
import type { Failure } from "../../core/failure.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { EXIT, note, print } from "../terminal/console.ts";
import { daemonStatus, notRunning } from "../../daemon/client.ts";
import { configPath } from "../../adapters/paths.ts";
import { checkPortFree } from "../../adapters/port-holder.ts";
import { programVersion } from "../../adapters/program.ts";
import { isHealthy, renderStatus } from "./status/report.ts";

/** `tollkeeper status`: shows the running daemon's status. Exits with 0 when it is healthy, else 1. */
export const command: Command<ReportArguments> = {
  builder: reportOptions,
  handler: async ({ config, json }) => {
    const status = await daemonStatus();
    if (status === null) throw await explainAbsence(config);
    if (status.version !== programVersion()) note(versionNote(status.version));
    if (json) print(JSON.stringify(status, null, 2));
    else for (const line of renderStatus(status)) print(line);
    if (!isHealthy(status)) process.exitCode = EXIT.failed;
  },
};

function versionNote(version: string): string {
  return `note: the daemon that runs is of version ${version}, this is ${programVersion()}; type: tollkeeper service restart`;
}

/** Returns why no daemon responds: another program has its port, or it is not running. An invalid configuration names no port. */
async function explainAbsence(configFile = configPath()): Promise<Failure> {
  const reading = await readConfigFile(configFile);
  const portFailure = reading.ok ? await checkPortFree(reading.config.listen.port) : null;
  return portFailure ?? notRunning();
}
