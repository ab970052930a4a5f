import { connectionsDirectory, currentHost } from "../../adapters/paths.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import { prepareDisconnection, readConnections } from "../../connect/connection.ts";
import type { ConnectionId, KeptBackup } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { note, print } from "../terminal/console.ts";
import { displayPath } from "../terminal/format.ts";
import { revokeConnectionTokens } from "./connection-token.ts";
import { BACKUPS } from "./tool-connection.ts";
import { confirmChange, showChanges, type ChangeOptions, type Decision } from "./tool-changes.ts";

/**
 * Disconnects one tool: shows the change, asks, and makes it.
 * @throws Failure when it is not connected, or cannot be disconnected
 */
export async function disconnectTool(id: ConnectionId, options: ChangeOptions): Promise<Decision> {
  await refuseExposed(connectionsDirectory(), BACKUPS);
  const change = prepareDisconnection(connectionsDirectory(), id);
  // A mistyped name must not look like success.
  if (change === null) throw notConnected(id);
  showChanges(change);
  const decision =
    change.isUnchanged && !options.isDryRun
      ? "done"
      : await confirmChange(`Disconnect ${nameOfConnection(id)}?`, options);
  if (decision !== "done") return decision;
  const kept = change.commit();
  await revokeConnectionTokens(id);
  printBackups(kept);
  print(`${nameOfConnection(id)} is disconnected`);
  if (change.hasOnlyEditedSettings)
    note("note: none of its settings was as connect wrote it, so it may still point at tollkeeper");
  return "done";
}

function printBackups(backups: readonly KeptBackup[]): void {
  const { home } = currentHost();
  for (const { path, backup, isRedacted } of backups) {
    const without = isRedacted ? ", without its keys" : "";
    print(`backup of ${displayPath(path, home)}${without}: ${displayPath(backup, home)}`);
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
      ? "to see which tools are connected, type: tollkeeper connect --list"
      : `it is connected in a project; disconnect it there with: ${formatCommand(["tollkeeper", "disconnect", id.tool, "--directory", only])}`;
  return new Failure(`${nameOfConnection(id)} is not connected`, hint);
}

/** Returns the name of a connection for people, e.g. `codex in ~/project`. */
export function nameOfConnection({ tool, directory }: ConnectionId): string {
  return directory === null ? tool : `${tool} in ${displayPath(directory, currentHost().home)}`;
}
