import { resolve } from "node:path";
import { connectionsDirectory, currentHost } from "../../adapters/paths.ts";
import { prepareDisconnection, readConnections } from "../../connect/connection.ts";
import type { ConnectionId, KeptBackup } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { defineCommand } from "../command.ts";
import { connectionIdFor } from "../connect/connect-tool.ts";
import { revokeConnectionTokens } from "../connect/connection-token.ts";
import { requireTool } from "../connect/select-tool.ts";
import { changeEach, confirmChange, SCOPES, showChanges } from "../connect/tool-changes.ts";
import type { ChangeOptions, Decision } from "../connect/tool-changes.ts";
import { EXIT, note, print } from "../terminal/console.ts";
import { displayPath } from "../terminal/format.ts";

/** `tollkeeper disconnect`: restores the settings that `connect` changed. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("tool", { type: "string", describe: "The tool" })
      .option("scope", { choices: SCOPES, default: "user" as const, describe: "Everywhere, or here alone" })
      .option("directory", {
        type: "string",
        describe: "The project's, which may be gone; by default this one",
      })
      .option("dry-run", { type: "boolean", default: false, describe: "Only show what would change" })
      .option("yes", { alias: "y", type: "boolean", default: false, describe: "Do it without asking" })
      .option("all", { type: "boolean", describe: "Disconnect every tool, in every project" })
      .conflicts("all", ["tool", "directory"])
      .check(({ tool, all }) => tool !== undefined || all === true || "name a tool, or say --all"),
  handler: async ({ tool = "", scope, directory, dryRun, yes, all }) => {
    const options = { isDryRun: dryRun, isConfirmed: yes };
    const known = readConnections(connectionsDirectory()).map(({ id }) => id);
    if (all === true) {
      return changeEach(known.map((id) => ({ title: nameOf(id), make: () => disconnectTool(id, options) })));
    }
    const isKnown = known.some((id) => id.tool === tool);
    const name = isKnown ? tool : requireTool(tool).name;
    const id: ConnectionId =
      directory === undefined
        ? connectionIdFor(name, scope)
        : { tool: name, scope: "project", directory: resolve(directory) };
    if ((await disconnectTool(id, options)) === "declined") process.exitCode = EXIT.failed;
  },
});

/**
 * Disconnects one tool: shows the change, asks, and makes it.
 * @throws Failure when it is not connected, or cannot be disconnected
 */
async function disconnectTool(id: ConnectionId, options: ChangeOptions): Promise<Decision> {
  const change = prepareDisconnection(connectionsDirectory(), id);
  // A mistyped name must not look like success.
  if (change === null) throw notConnected(id);
  showChanges(change);
  const decision =
    change.isUnchanged && !options.isDryRun
      ? "done"
      : await confirmChange(`disconnect ${nameOf(id)}?`, options);
  if (decision !== "done") return decision;
  const kept = change.commit();
  await revokeConnectionTokens(id);
  printBackups(kept);
  print(`${nameOf(id)} is disconnected`);
  if (change.hasOnlyEditedSettings)
    note("note: none of its settings was as connecting wrote it, so it may come here still");
  return "done";
}

function printBackups(backups: readonly KeptBackup[]): void {
  const { home } = currentHost();
  for (const { path, backup, isRedacted } of backups) {
    const but = isRedacted ? ", but for its keys" : "";
    print(`${displayPath(path, home)} as it was before${but}: ${displayPath(backup, home)}`);
  }
}

/** Suggests the project in which the tool is connected, if there is just one. */
function notConnected(id: ConnectionId): Failure {
  const projects = readConnections(connectionsDirectory()).flatMap(({ id: { tool, directory } }) =>
    tool === id.tool && directory !== null ? [directory] : [],
  );
  const [only] = projects;
  const hint =
    only === undefined || projects.length > 1
      ? "see what is: tollkeeper connect --list"
      : `it is in a project: ${formatCommand(["tollkeeper", "disconnect", id.tool, "--directory", only])}`;
  return new Failure(`${nameOf(id)} is not connected`, hint);
}

function nameOf({ tool, directory }: ConnectionId): string {
  return directory === null ? tool : `${tool} in ${displayPath(directory, currentHost().home)}`;
}
