import { join } from "node:path";
import type { SettingsPlan } from "../tools/tool.ts";
import type { FileChange, OverwrittenKey, UnrestoredSetting } from "./edit/file-change.ts";
import type { KeptBackup } from "./journal/backups.ts";
import { commitConnect, commitDisconnect, commitRemoval } from "./journal/commit.ts";
import { planConnect, planDisconnect, planRemoval, type FilePlan } from "./journal/file-plan.ts";
import { readJournal, readJournals, type ConnectionId } from "./journal/journal.ts";

export type { FileOutcome, OverwrittenKey, UnrestoredSetting } from "./edit/file-change.ts";
export type { KeptBackup } from "./journal/backups.ts";
export { readConnectionState, type ConnectionState } from "./journal/connection-state.ts";
export type { ConnectionId } from "./journal/journal.ts";

/** A change of a tool's files, planned but not yet written. */
export interface PreparedChange {
  id: ConnectionId;
  changes: readonly FileChange[];
  /** Real keys that connecting overwrites and does not keep. Empty when disconnecting. */
  keys: readonly OverwrittenKey[];
  /** Settings of the previous connection that are not restored: when connecting, in files that it alone wrote. */
  unrestored: readonly UnrestoredSetting[];
  /** True when no file changes. */
  isUnchanged: boolean;
  /** When disconnecting: true when every setting was edited since and stays, so the tool may still use tollkeeper. */
  hasOnlyEditedSettings: boolean;
  /**
   * Writes the change. Returns the backups of files that leave the connection and could not be fully restored.
   * @throws Failure when a file cannot be written, or when it or the connection changed since this was prepared
   */
  commit(): readonly KeptBackup[];
}

/** An existing connection. */
export interface Connection {
  id: ConnectionId;
  /** When it was made, in ISO 8601. */
  since: string;
  files: readonly ConnectedFile[];
}

interface ConnectedFile {
  path: string;
  /** Path of a copy of the original file; null when there was no file. */
  backup: string | null;
  /** True when keys in the backup were redacted. */
  isRedacted: boolean;
}

/**
 * Prepares a connection, in place of an existing one. Reads the files of the plan and writes nothing.
 * @throws Failure, with file and line, when a file cannot be parsed or changed
 */
export function prepareConnection(
  plan: SettingsPlan,
  journalDirectory: string,
  id: ConnectionId,
): PreparedChange {
  const former = readJournal(journalDirectory, id);
  const records = former?.files ?? [];
  const wanted = plan.files.map((file) => {
    return planConnect(file, records.find(({ path }) => path === file.path) ?? null, id.tool);
  });
  const unwanted = records.filter(({ path }) => plan.files.every((file) => file.path !== path));
  const plans = [...wanted, ...unwanted.map(planDisconnect)];
  return toPreparedChange(id, plans, () => commitConnect(journalDirectory, id, former, plans));
}

/** Prepares to disconnect, and writes nothing; null when there is no such connection. @throws Failure */
export function prepareDisconnection(journalDirectory: string, id: ConnectionId): PreparedChange | null {
  const journal = readJournal(journalDirectory, id);
  if (journal === null) return null;
  const plans = journal.files.map(planDisconnect);
  return toPreparedChange(id, plans, () => commitDisconnect(journalDirectory, journal, plans));
}

/**
 * Prepares to remove the settings of a plan that have the values which connecting gives them, where there is no connection. Writes nothing.
 * @throws Failure, with file and line, when a file cannot be parsed or changed
 */
export function prepareRemoval(plan: SettingsPlan, id: ConnectionId): PreparedChange {
  const plans = plan.files.map((file) => planRemoval(file, id.tool));
  return toPreparedChange(id, plans, () => commitRemoval(plans));
}

/** Returns all connections, sorted by name. @throws Failure when a journal cannot be read */
export function readConnections(journalDirectory: string): Connection[] {
  return readJournals(journalDirectory).map(({ identity, since, files }) => ({
    id: identity,
    since,
    files: files.map(({ path, backup }) => ({
      path,
      backup: backup === null ? null : join(journalDirectory, backup.name),
      isRedacted: backup?.isBlotted ?? false,
    })),
  }));
}

/** Returns the directories and files that connecting has created, for all tools. @throws Failure when a journal cannot be read */
export function pathsMade(journalDirectory: string): string[] {
  const files = readJournals(journalDirectory).flatMap((journal) => journal.files);
  return files.flatMap(({ path, made, backup }) => (backup === null ? [...made, path] : made));
}

function toPreparedChange(
  id: ConnectionId,
  plans: readonly FilePlan[],
  commit: PreparedChange["commit"],
): PreparedChange {
  return {
    id,
    changes: plans.map(({ change }) => change),
    keys: plans.flatMap(({ keys }) => keys),
    unrestored: plans.flatMap(({ unrestored }) => unrestored),
    isUnchanged: plans.every(({ change }) => change.before === change.after),
    hasOnlyEditedSettings: plans.every(hasOnlyEditedSettings),
    commit,
  };
}

function hasOnlyEditedSettings({ record, unrestored }: FilePlan): boolean {
  const edited = unrestored.filter(({ reason }) => reason === "changed");
  return record !== null && edited.length === record.undo.written.length;
}
