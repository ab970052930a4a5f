import type { CommandModule } from "yargs";
import { Failure } from "../core/failure.ts";
import { EXIT, print } from "./console.ts";
import { daemonStatus } from "./daemon.ts";
import { isHealthy, renderStatus } from "./status-report.ts";

interface StatusArguments {
  json: boolean;
}

/** `tollkeeper status`: what the running daemon says of itself. Exits 0 when it is well, 1 otherwise. */
export const statusCommand: CommandModule<object, StatusArguments> = {
  command: "status",
  describe: "Show what the running daemon does: addresses, upstreams, keys, configuration, ledger",
  builder: (yargs) => yargs.option("json", { type: "boolean", default: false, describe: "Print JSON" }),
  handler: async ({ json }) => {
    const status = await daemonStatus();
    if (status === null) {
      throw new Failure("tollkeeper is not running", "start it with: tollkeeper serve");
    }
    if (json) print(JSON.stringify(status, null, 2));
    else for (const line of renderStatus(status)) print(line);
    if (!isHealthy(status)) process.exitCode = EXIT.failed;
  },
};
