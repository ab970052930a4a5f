import { isDeepStrictEqual } from "node:util";
import { createKeychain } from "../../adapters/keychain.ts";
import { connectionsDirectory, currentHost } from "../../adapters/paths.ts";
import { readConnections, type ConnectionId } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { notifyDaemon } from "../../daemon/client.ts";
import type { ConnectableTool, Scope } from "../../tools/tool.ts";
import { note, print } from "../terminal/console.ts";
import { displayPath } from "../terminal/display-path.ts";
import { confirmChange, showChanges, type ChangeOptions, type Decision } from "./confirm-changes.ts";
import { findConflictWarnings } from "./conflict-warnings.ts";
import { planKeyMigration, type KeyMigration } from "./key-migration.ts";
import { readToolHost } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import { prepareToolConnection } from "./tool-connection.ts";

export interface ConnectOptions extends ChangeOptions {
  scope: Scope;
  /** The model to configure; undefined lets the daemon's list decide. */
  model: string | undefined;
}

/**
 * Connects one tool: shows the change, asks, and makes it.
 * @throws Failure, with none of the tool's files changed, when it cannot be connected
 */
export async function connectTool(
  tool: ConnectableTool,
  daemon: LocalDaemon,
  { scope, model, ...options }: ConnectOptions,
): Promise<Decision> {
  requireScope(tool, scope);
  const id = connectionIdFor(tool.name, scope);
  const { baseUrl, plan, change, commit } = await prepareToolConnection(tool, daemon, id, model);
  for (const warning of findConflictWarnings(plan, change)) note(`warning: ${warning}`);
  if (change.isUnchanged) {
    print(`${tool.title} is connected already: ${baseUrl}`);
    return "done";
  }
  const migration = await planKeyMigration(change.keys, tool.name, daemon.config, createKeychain());
  showChanges(change);
  if (migration !== null) print(migration.description);
  const decision = await confirmChange(questionFor(tool, migration), options);
  if (decision !== "done") return decision;
  if (migration !== null) await storeKey(migration);
  await commit();
  printWrittenFiles(id);
  for (const remark of plan.remarks) print(remark);
  printConnected(tool, id, daemon);
  return "done";
}

/** Returns the ID of a tool's connection; in the scope `project`, for the working directory. */
export function connectionIdFor(tool: string, scope: Scope): ConnectionId {
  return { tool, scope, directory: scope === "project" ? readToolHost().directory : null };
}

function requireScope({ title, name, scopes }: ConnectableTool, scope: Scope): void {
  if (scopes.includes(scope)) return;
  const hint =
    scopes.length === 0
      ? `see what to do there by hand: tollkeeper connect ${name} --print`
      : `connect it with: ${scopes.map((known) => `--scope ${known}`).join(" or ")}`;
  const what = scopes.length === 0 ? "no settings that could be written for it" : "no settings of that scope";
  throw new Failure(`${title} has ${what}`, hint);
}

function questionFor({ title }: ConnectableTool, migration: KeyMigration | null): string {
  const first = migration === null || migration.isStored ? "" : "move the key into the keychain, and ";
  return `${first}connect ${title}?`;
}

async function storeKey(migration: KeyMigration): Promise<void> {
  await migration.store();
  if (!migration.isStored) await notifyDaemon("keys-changed");
}

function printWrittenFiles(id: ConnectionId): void {
  const { home } = currentHost();
  const connection = readConnections(connectionsDirectory()).find((one) => isDeepStrictEqual(one.id, id));
  for (const { path, backup, isRedacted } of connection?.files ?? []) {
    const like = isRedacted ? "as it was before, but for its keys" : "as it was before";
    const copy = backup === null ? "" : `; ${like}: ${displayPath(backup, home)}`;
    print(`wrote ${displayPath(path, home)}${copy}`);
  }
}

function printConnected(
  { title, name }: ConnectableTool,
  { scope }: ConnectionId,
  { config, port, isRunning }: LocalDaemon,
): void {
  const option = scope === "user" ? "" : ` --scope ${scope}`;
  print(`${title} is connected; undo it with: tollkeeper disconnect ${name}${option}`);
  if (!isRunning) {
    note("note: tollkeeper is not running; start it with: tollkeeper service install; or: tollkeeper serve");
  } else if (config.listen.port === 0) {
    note(
      `note: the next start may choose another port than ${port}; settle on one with: tollkeeper config edit`,
    );
  }
}
