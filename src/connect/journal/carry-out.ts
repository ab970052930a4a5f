import { sep } from "node:path";
import { Failure } from "../../core/failure.ts";
import { dropBackups, forgetBackups, keepBackup } from "./backups.ts";
import { transferOwnership } from "./transfer-ownership.ts";
import type { Identity, KeptBackup } from "../connection.ts";
import { removeEmpty } from "../edit/directories.ts";
import type { FilePlan } from "../edit/file-plan.ts";
import { isCurrent, refuseOther, removeJournal, replaceJournal, VERSION, writeJournal } from "./journal.ts";
import type { FileRecord, Journal } from "./journal.ts";
import { removeLeftovers } from "./leftovers.ts";
import { readTarget } from "../edit/target-file.ts";
import { writeTarget } from "../edit/write-target.ts";

/**
 * Connects: backups, then the journal, which says how both the old and the new state of every file is undone, then the
 * files. Stopped anywhere in between it leaves a state from which connecting and disconnecting work. Where a file cannot
 * be written, those before it get their texts back. `former`: the journal by which the plans were made.
 */
export function carryOutConnect(
  directory: string,
  identity: Identity,
  former: Journal | null,
  plans: readonly FilePlan[],
): KeptBackup[] {
  refuseOther(directory, identity, former);
  // All was as it shall be before we came: there is nothing that disconnecting could undo.
  if (former === null && plans.every(({ undo }) => undo?.written.length === 0)) return [];
  const since = former?.since ?? new Date().toISOString();
  const made = plans.flatMap(({ record, target }) => [...(record?.made ?? []), ...target.missing]);
  const files = plans.map((plan) => recordOf(directory, identity, plan, made));
  const pending: Journal = { version: VERSION, identity, since, files };
  replaceJournal(directory, former, pending);
  writeAll(plans, () => forget(directory, pending, former));
  // Files that only the former connection wrote are done with.
  const kept = letGo(
    directory,
    identity,
    plans.filter(({ undo }) => undo === null),
  );
  const wanted = files.filter((_, index) => plans[index]?.undo !== null);
  settle(directory, { ...pending, files: wanted.map((file) => ({ ...file, earlier: null })) });
  return kept;
}

/** Where there is no room for it the one before stays, which says all this and more: the files are written. */
function settle(directory: string, journal: Journal): void {
  try {
    writeJournal(directory, journal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

/** Disconnects: the files, then the journal; stopped in between it can be done again. */
export function carryOutDisconnect(
  directory: string,
  journal: Journal,
  plans: readonly FilePlan[],
): KeptBackup[] {
  refuseOther(directory, journal.identity, journal);
  plans.forEach(writeChange);
  const kept = letGo(directory, journal.identity, plans);
  if (isCurrent(directory, journal.identity, journal)) removeJournal(directory, journal.identity);
  return kept;
}

/** What is left to do with files that are ours no more. */
function letGo(directory: string, identity: Identity, plans: readonly FilePlan[]): KeptBackup[] {
  removeEmpty(plans.flatMap(({ record }) => record?.made ?? []));
  transferOwnership(directory, identity, plans);
  return dropBackups(directory, plans);
}

/** With a backup, where the file is touched for the first time. `made`: every directory that the connection has made. */
function recordOf(
  directory: string,
  identity: Identity,
  plan: FilePlan,
  made: readonly string[],
): FileRecord {
  const { change, undo, record } = plan;
  if (undo === null && record !== null) return record;
  if (undo === null) throw new Error("a file without settings, now or before, is no part of a connection");
  const backup = record === null ? keepBackup(directory, identity, plan) : record.backup;
  const above = new Set(made.filter((one) => change.path.startsWith(one + sep)));
  return { path: change.path, undo, earlier: record?.undo ?? null, made: [...above], backup };
}

/** All or none, as far as that is in our hands. */
function writeAll(plans: readonly FilePlan[], forgetAll: () => void): void {
  const done: FilePlan[] = [];
  try {
    for (const plan of plans) {
      writeChange(plan);
      done.push(plan);
    }
  } catch (error) {
    const isBack = done.map(takeBack).every((isDone) => isDone);
    removeEmpty(done.flatMap(({ target }) => target.missing));
    // Where one cannot be had back, the journal stays, by which disconnecting can do it later.
    if (isBack) forgetAll();
    throw error;
  }
}

function writeChange({ target, change }: FilePlan): void {
  removeLeftovers(target.place);
  if (change.before !== change.after) writeTarget(target, change.after);
}

function takeBack({ change }: FilePlan): boolean {
  try {
    if (change.before !== change.after) writeTarget(readTarget(change.path), change.before);
    return true;
  } catch {
    return false;
  }
}

/** Only while it is ours: somebody else may have been faster, which may be why we are here. */
function forget(directory: string, pending: Journal, former: Journal | null): void {
  const { identity } = pending;
  if (!isCurrent(directory, identity, pending)) return;
  if (former === null) removeJournal(directory, identity);
  else writeJournal(directory, former);
  forgetBackups(directory, pending, former);
}
