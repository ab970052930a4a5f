import { connectionsDirectory, currentHost } from "../../adapters/paths.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import { prepareDisconnection, readConnections } from "../../connect/connection.ts";
import type { ConnectionId, KeptBackup, PreparedChange } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { note, print } from "../terminal/console.ts";
import { displayPath } from "../terminal/format.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import { revokeConnectionTokens } from "./connection-token.ts";
import { readToolHost } from "./local-endpoint.ts";
import { describePayerWithout } from "./payer/payer-without.ts";
import { findManualConnection, prepareManualRemoval } from "./manual-connection.ts";
import { BACKUPS } from "./tool-connection.ts";
import { confirmChange, showChanges, type ChangeOptions, type Decision } from "./tool-changes.ts";

/**
 * Disconnects one tool: shows the change, asks, and makes it.
 * @throws Failure when it is not connected, or cannot be disconnected
 */
export async function disconnectTool(id: ConnectionId, options: ChangeOptions): Promise<Decision> {
  await refuseExposed(connectionsDirectory(), BACKUPS);
  const change = prepareDisconnection(connectionsDirectory(), id) ?? (await prepareManual(id));
  const sentences = await describePayerWithout(id, change);
  showChanges(change, options);
  const isAsked = options.isDryRun || (!change.isUnchanged && !options.isConfirmed);
  if (isAsked) for (const sentence of sentences(options.isDryRun ? "would" : "will")) print(sentence);
  const decision = isAsked ? await confirmChange(`Disconnect ${nameOfConnection(id)}?`, options) : "done";
  if (decision !== "done") return decision;
  const kept = change.commit();
  await revokeConnectionTokens(id);
  printBackups(kept);
  print(`${nameOfConnection(id)} is disconnected`);
  for (const sentence of sentences("does")) print(sentence);
  if (change.hasOnlyEditedSettings)
    note("note: none of its settings was as connect wrote it, so it may still point at tollkeeper");
  return "done";
}

/** Settings that were written by hand, or written back by the tool. @throws Failure where there are none, or not only ours */
async function prepareManual(id: ConnectionId): Promise<PreparedChange> {
  const tool = CONNECTABLE_TOOLS.find(({ name }) => name === id.tool);
  const host = readToolHost();
  const manual = tool === undefined || id.scope !== "user" ? null : await findManualConnection(tool, host);
  // A mistyped name must not look like success.
  if (tool === undefined || manual === null) throw notConnected(id);
  const change = prepareManualRemoval(tool, host, manual);
  if (change !== null) return change;
  throw new Failure(
    `${nameOfConnection(id)} is not connected, but ${manual.path}:${manual.line} points at tollkeeper`,
    `remove that by hand with: \${EDITOR:-vi} ${formatCommand([manual.path])}`,
  );
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
