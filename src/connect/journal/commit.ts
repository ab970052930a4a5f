import { sep } from "node:path";
import { Failure } from "../../core/failure.ts";
import { removeEmptyDirectories } from "../edit/directories.ts";
import { isEqual } from "../edit/key-path.ts";
import { removeStaleTemporaryFiles } from "../edit/replace-file.ts";
import { readTarget, writeTarget } from "../edit/target-file.ts";
import type { WrittenSetting } from "../edit/undo-record.ts";
import { removeNewBackups, removeRestoredBackups, saveBackup, type KeptBackup } from "./backups.ts";
import type { FilePlan } from "./file-plan.ts";
import {
  isCurrent,
  readJournals,
  removeJournal,
  replaceJournal,
  requireCurrent,
  JOURNAL_VERSION,
  writeJournal,
} from "./journal.ts";
import type { ConnectionId, FileRecord, Journal } from "./journal.ts";

/**
 * Connects: writes the backups, then the journal, which can undo both the old and the new state of every file, then the
 * files. Interrupted anywhere, it leaves a state from which connecting and disconnecting work. When a file cannot be
 * written, those before it are rolled back.
 * @param former the journal from which the plans were made
 * @returns the backups of files that only the former connection wrote and that could not be fully restored
 * @throws Failure when a file cannot be written, or a file or the journal changed since it was read
 */
export function commitConnect(
  directory: string,
  id: ConnectionId,
  former: Journal | null,
  plans: readonly FilePlan[],
): KeptBackup[] {
  requireCurrent(directory, id, former);
  // Every setting already had its value: there is nothing that disconnecting could undo.
  if (former === null && plans.every(({ undo }) => undo?.written.length === 0)) return [];
  const since = former?.since ?? new Date().toISOString();
  const created = plans.flatMap(({ record, target }) => [
    ...(record?.made ?? []),
    ...target.missingDirectories,
  ]);
  const files = plans.map((plan) => recordFile(directory, id, plan, created));
  const pending: Journal = { version: JOURNAL_VERSION, identity: id, since, files };
  replaceJournal(directory, former, pending);
  writeAll(plans, () => revertJournal(directory, pending, former));
  const dropped = plans.filter(({ undo }) => undo === null);
  const kept = releaseFiles(directory, id, dropped);
  const wanted = files.filter((_, index) => plans[index]?.undo !== null);
  try {
    writeJournal(directory, { ...pending, files: wanted.map((file) => ({ ...file, earlier: null })) });
  } catch (error) {
    // On a full disk the pending journal stays, which undoes the new state as well.
    if (!(error instanceof Failure)) throw error;
  }
  return kept;
}

/**
 * Disconnects: restores the files, then removes the journal. Interrupted in between, it can be repeated.
 * @returns the backups of files that could not be fully restored
 * @throws Failure when a file cannot be written, or a file or the journal changed since it was read
 */
export function commitDisconnect(
  directory: string,
  journal: Journal,
  plans: readonly FilePlan[],
): KeptBackup[] {
  requireCurrent(directory, journal.identity, journal);
  plans.forEach(writeChange);
  const kept = releaseFiles(directory, journal.identity, plans);
  if (isCurrent(directory, journal.identity, journal)) removeJournal(directory, journal.identity);
  return kept;
}

/** Writes the files of a removal, which belong to no connection. @throws Failure when a file cannot be written */
export function commitRemoval(plans: readonly FilePlan[]): KeptBackup[] {
  plans.forEach(writeChange);
  return [];
}

/** Cleans up after files that no longer belong to the connection. */
function releaseFiles(directory: string, id: ConnectionId, plans: readonly FilePlan[]): KeptBackup[] {
  removeEmptyDirectories(plans.flatMap(({ record }) => record?.made ?? []));
  transferOwnership(directory, id, plans);
  return removeRestoredBackups(directory, plans);
}

/**
 * Hands over what the connection created and what stays because another connection wrote to it too: the other connection's journal now says
 * that the file and its directories, or the list, did not exist before.
 * @throws Failure when that journal cannot be written
 */
function transferOwnership(directory: string, id: ConnectionId, plans: readonly FilePlan[]): void {
  const remaining = plans.filter(({ change, record }) => change.after !== null && record !== null);
  if (remaining.length === 0) return;
  for (const journal of readJournals(directory)) {
    if (isEqual(journal.identity, id)) continue;
    const files = journal.files.map((file) => inheritFile(file, remaining));
    if (!isEqual(files, journal.files)) replaceJournal(directory, journal, { ...journal, files });
  }
}

function inheritFile(file: FileRecord, plans: readonly FilePlan[]): FileRecord {
  const record = plans.find(({ change }) => change.path === file.path)?.record ?? null;
  if (record === null) return file;
  const written = file.undo.written.map((setting) => inheritContainers(setting, record.undo.written));
  if (record.undo.before !== null) return { ...file, undo: { ...file.undo, written } };
  return {
    ...file,
    undo: { ...file.undo, before: null, written },
    made: [...new Set([...record.made, ...file.made])],
  };
}

/** Returns a setting with the objects and lists on its path that settings of another connection created. */
function inheritContainers(setting: WrittenSetting, others: readonly WrittenSetting[]): WrittenSetting {
  const depths = others
    .filter(({ at, before }) => before === "nothing" && isEqual(at.slice(0, -1), setting.at.slice(0, -1)))
    .map(({ depth }) => depth);
  return { ...setting, depth: Math.min(setting.depth, ...depths) };
}

/** Returns a file's new record, and saves a backup of a file that is new to the connection. */
function recordFile(
  directory: string,
  id: ConnectionId,
  plan: FilePlan,
  created: readonly string[],
): FileRecord {
  const { change, undo, record } = plan;
  if (undo === null && record !== null) return record;
  if (undo === null) throw new Error("a file without settings, now or before, is not part of a connection");
  const backup = record === null ? saveBackup(directory, id, plan) : record.backup;
  const parents = new Set(created.filter((one) => change.path.startsWith(one + sep)));
  return { path: change.path, undo, earlier: record?.undo ?? null, made: [...parents], backup };
}

/** Writes all files, or rolls back those already written. */
function writeAll(plans: readonly FilePlan[], revert: () => void): void {
  const done: FilePlan[] = [];
  try {
    for (const plan of plans) {
      writeChange(plan);
      done.push(plan);
    }
  } catch (error) {
    const isRolledBack = done.map(rollBack).every((isDone) => isDone);
    removeEmptyDirectories(done.flatMap(({ target }) => target.missingDirectories));
    // Otherwise the journal stays, so that disconnecting can restore the rest later.
    if (isRolledBack) revert();
    throw error;
  }
}

function writeChange({ target, change }: FilePlan): void {
  removeStaleTemporaryFiles(target.realPath);
  if (change.before !== change.after) writeTarget(target, change.after);
}

function rollBack({ change }: FilePlan): boolean {
  try {
    if (change.before !== change.after) writeTarget(readTarget(change.path), change.before);
    return true;
  } catch {
    return false;
  }
}

/** Puts the former journal back, unless another process has replaced ours, which may be why writing failed. */
function revertJournal(directory: string, pending: Journal, former: Journal | null): void {
  const { identity } = pending;
  if (!isCurrent(directory, identity, pending)) return;
  if (former === null) removeJournal(directory, identity);
  else writeJournal(directory, former);
  removeNewBackups(directory, pending, former);
}
