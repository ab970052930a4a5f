import { resolve } from "node:path";
import { connectionsDirectory } from "../../adapters/paths.ts";
import { readConnections, type ConnectionId } from "../../connect/connection.ts";
import { defineCommand } from "../command.ts";
import { connectionIdFor } from "../connect/connect-tool.ts";
import { disconnectTool, nameOfConnection } from "../connect/disconnect-tool.ts";
import { findManualConnections } from "../connect/manual-connection.ts";
import { requireToolToDisconnect } from "../connect/select-tool.ts";
import { changeEach, SCOPES } from "../connect/tool-changes.ts";
import { EXIT } from "../terminal/console.ts";

/** `tollkeeper disconnect`: restores the settings that `connect` changed. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("tool", { type: "string", describe: "Name of the tool" })
      .option("scope", {
        choices: SCOPES,
        default: "user" as const,
        describe: "For the user, or for this project only",
      })
      .option("directory", {
        type: "string",
        describe: "Directory of the project, even a deleted one; default: this one",
      })
      .option("dry-run", { type: "boolean", default: false, describe: "Only show what would change" })
      .option("yes", { alias: "y", type: "boolean", default: false, describe: "Disconnect without asking" })
      .option("all", { type: "boolean", describe: "Disconnect every tool, in every project" })
      .conflicts("all", ["tool", "directory"])
      .check(
        ({ tool, all }) =>
          tool !== undefined || all === true || '"disconnect" needs the name of a tool, or --all',
      ),
  handler: async ({ tool = "", scope, directory, dryRun, yes, all }) => {
    const options = { isDryRun: dryRun, isConfirmed: yes };
    const known = readConnections(connectionsDirectory()).map(({ id }) => id);
    if (all === true) {
      // A tool may have written back what it had read while it was connected.
      const others = await findManualConnections(known);
      const ids = [...known, ...others.map(({ tool: { name } }) => connectionIdFor(name, "user"))];
      await changeEach(
        ids.map((id) => ({ title: nameOfConnection(id), make: () => disconnectTool(id, options) })),
      );
      return;
    }
    const isKnown = known.some((id) => id.tool === tool);
    const name = isKnown ? tool : requireToolToDisconnect(tool).name;
    const id: ConnectionId =
      directory === undefined
        ? connectionIdFor(name, scope)
        : { tool: name, scope: "project", directory: resolve(directory) };
    if ((await disconnectTool(id, options)) === "declined") process.exitCode = EXIT.failed;
  },
});
