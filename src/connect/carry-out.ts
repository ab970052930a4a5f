import fs from "node:fs";
import { join } from "node:path";
import { blotKeys } from "../core/key-shape.ts";
import type { Identity } from "./connection.ts";
import type { FilePlan } from "./file-plan.ts";
import { nameOf, readJournal, removeJournal, VERSION, writeBeside, writeJournal } from "./journal.ts";
import type { Backup, FileRecord, Journal } from "./journal.ts";
import { readTarget } from "./target-file.ts";
import { removeEmpty, writeTarget } from "./write-target.ts";

/**
 * Connects: backups, then the journal, which says how both the old and the new state of every file is undone, then the
 * files. Stopped anywhere in between it leaves a state from which connecting and disconnecting work. Where a file cannot
 * be written, those before it get their texts back.
 */
export function carryOutConnect(directory: string, identity: Identity, plans: readonly FilePlan[]): void {
  const former = readJournal(directory, identity);
  // All was as it shall be before we came: there is nothing that disconnecting could undo.
  if (former === null && plans.every(({ undo }) => undo?.written.length === 0)) return;
  const since = former?.since ?? new Date().toISOString();
  const pending = plans.map((plan, index) => recordOf(directory, `${nameOf(identity)}.${index}`, plan));
  writeJournal(directory, { version: VERSION, identity, since, files: pending });
  writeAll(plans, () =>
    former === null ? removeJournal(directory, identity) : writeJournal(directory, former),
  );
  // Files that only the former connection wrote are done with.
  const files = pending.filter((_, index) => plans[index]?.undo !== null);
  const settled = files.map((file) => ({ ...file, earlier: null }));
  writeJournal(directory, { version: VERSION, identity, since, files: settled });
}

/** Disconnects: the files, then the journal; stopped in between it can be done again. */
export function carryOutDisconnect(directory: string, journal: Journal, plans: readonly FilePlan[]): void {
  plans.forEach(writeChange);
  removeJournal(directory, journal.identity);
  const isAsBefore = plans.every(({ change, left }) => change.fate !== "cleared" && left.length === 0);
  // Otherwise somebody may want to compare.
  if (isAsBefore) removeBackups(directory, journal);
}

function removeBackups(directory: string, { files }: Journal): void {
  for (const { backup } of files)
    if (backup !== null) fs.rmSync(join(directory, backup.name), { force: true });
}

/** With a backup, where the file is touched for the first time. */
function recordOf(
  directory: string,
  name: string,
  { target, change, original, undo, record }: FilePlan,
): FileRecord {
  if (undo === null && record !== null) return record;
  if (undo === null) throw new Error("a file without settings, now or before, is no part of a connection");
  const backup = record === null ? keepBackup(directory, `${name}.backup`, original) : record.backup;
  const made = [...(record?.made ?? []), ...target.missing];
  return { path: change.path, undo, earlier: record?.undo ?? null, made: [...new Set(made)], backup };
}

function keepBackup(directory: string, name: string, text: string | null): Backup | null {
  if (text === null) return null;
  const blotted = blotKeys(text);
  writeBeside(directory, name, Buffer.from(blotted));
  return { name, isBlotted: blotted !== text };
}

/** All or none, as far as that is in our hands. */
function writeAll(plans: readonly FilePlan[], forget: () => void): void {
  const done: FilePlan[] = [];
  try {
    for (const plan of plans) {
      writeChange(plan);
      done.push(plan);
    }
  } catch (error) {
    // Where one cannot be had back, the journal stays, by which disconnecting can do it later.
    if (done.every(takeBack)) forget();
    throw error;
  }
}

function writeChange({ target, change, record }: FilePlan): void {
  if (change.before !== change.after) writeTarget(target, change.after);
  if (change.after === null) removeEmpty(record?.made ?? []);
}

function takeBack({ target, change }: FilePlan): boolean {
  try {
    if (change.before !== change.after) writeTarget(readTarget(change.path), change.before);
    removeEmpty(target.missing);
    return true;
  } catch {
    return false;
  }
}
