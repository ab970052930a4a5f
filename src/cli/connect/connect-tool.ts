import { isDeepStrictEqual } from "node:util";
import { createKeychain } from "../../adapters/keychain.ts";
import { connectionsDirectory, currentHost } from "../../adapters/paths.ts";
import { findConflictingSettings } from "../../connect/conflicting-variables.ts";
import { readConnections, type ConnectionId, type PreparedChange } from "../../connect/connection.ts";
import { Failure } from "../../core/failure.ts";
import { notifyDaemon } from "../../daemon/running-daemon.ts";
import type { ConnectableTool, Scope, SettingsPlan } from "../../tools/tool.ts";
import { findKeys } from "../dotfiles/find-keys.ts";
import { note, print } from "../terminal/console.ts";
import { displayLocation, displayPath } from "../terminal/format.ts";
import { planKeyMigration } from "./key-migration.ts";
import { readToolHost } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import { confirmChange, showChanges, type ChangeOptions, type Decision } from "./tool-changes.ts";
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
  const storeKey = migration?.store ?? null;
  const first = storeKey === null ? "" : "move the key into the keychain, and ";
  const decision = await confirmChange(`${first}connect ${tool.title}?`, options);
  if (decision !== "done") return decision;
  if (storeKey !== null) {
    await storeKey();
    await notifyDaemon("keys-changed");
  }
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
  if (scopes.length === 0) {
    const hint = `see what to do there by hand: tollkeeper connect ${name} --print`;
    throw new Failure(`${title} has no settings that could be written for it`, hint);
  }
  const hint = `connect it with: ${scopes.map((known) => `--scope ${known}`).join(" or ")}`;
  throw new Failure(`${title} has no settings of that scope`, hint);
}

/**
 * Returns a warning for everything in the changed files that overrides our settings or looks like a real key. Names the
 * location and the setting, never the value.
 */
function findConflictWarnings({ files }: SettingsPlan, { id, changes }: PreparedChange): string[] {
  const { home } = currentHost();
  return files.flatMap((file) => {
    const after = changes.find(({ path }) => path === file.path)?.after ?? null;
    if (after === null) return [];
    const locate = (line: number, name: string | null) =>
      displayLocation(`${displayPath(file.path, home)}:${line}`, name);
    const keys = findKeys(after, []);
    const conflicts = findConflictingSettings(file, after, id.tool);
    return [
      ...conflicts
        .filter(({ line }) => keys.every((key) => key.line !== line))
        .map(({ line, setting }) => {
          return `${locate(line, setting)} leads elsewhere, or takes another key along: take it out`;
        }),
      ...keys.map(({ line, name }) => {
        return `what looks like an API key stands in ${locate(line, name)}: store it with: tollkeeper key set; then take it out`;
      }),
    ];
  });
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
