import { readConfigFile } from "../../adapters/config-file.ts";
import type { Failure } from "../../core/failure.ts";
import type { Command } from "../command.ts";
import { EXIT, note, print } from "../terminal/console.ts";
import { daemonStatus, notRunning } from "../../daemon/client.ts";
import { configPath } from "../../adapters/paths.ts";
import { portUsurped } from "../../daemon/port-holder.ts";
import { programVersion } from "../../adapters/program.ts";
import { isHealthy, renderStatus } from "./status/report.ts";

interface StatusArguments {
  config?: string | undefined;
  json: boolean;
}

/** `tollkeeper status`: what the running daemon says of itself. Exits 0 when it is well, 1 otherwise. */
export const command: Command<StatusArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ config, json }) => {
    const status = await daemonStatus();
    if (status === null) throw await whyNot(config ?? configPath());
    if (status.version !== programVersion()) note(otherVersion(status.version));
    if (json) print(JSON.stringify(status, null, 2));
    else for (const line of renderStatus(status)) print(line);
    if (!isHealthy(status)) process.exitCode = EXIT.failed;
  },
};

function otherVersion(version: string): string {
  return `note: the daemon that runs is of version ${version}, this is ${programVersion()}; type: tollkeeper service restart`;
}

/** A file that cannot be used names no port: then it is only said that no daemon runs. */
async function whyNot(configFile: string): Promise<Failure> {
  const reading = await readConfigFile(configFile);
  const usurped = reading.ok ? await portUsurped(reading.config.listen.port) : null;
  return usurped ?? notRunning();
}
