import * as fs from "node:fs";
import { join } from "node:path";
import { hasCode, messageOf } from "../../core/failure.ts";
import { dayAt, dayFileName, dayOf, parseLedgerFileName, tornFileName } from "../../core/ledger/day.ts";
import { NOTES_DIRECTORY, noteFileName, parseNoteFileName, UNSENT } from "../../core/ledger/note-file.ts";
import { parseRecord } from "../../core/ledger/parse-record.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Log } from "../../ports.ts";
import { findRecords } from "./find-records.ts";
import { listNotes } from "./notes-directory.ts";
import { openPrivateFile } from "./private-file.ts";
import { isRunning } from "./process-identity.ts";
import { keepTornNote } from "./torn-line.ts";
import { fixOf } from "../system-fix.ts";

/** A whole note that a crash left. */
interface ClaimedNote {
  id: string;
  ts: string;
  durationMs: number;
  /** The record's line, with a newline at its end. */
  line: string;
}

/** A file of notes that is now this process's. */
interface ClaimedFile {
  path: string;
  /** The notes that are to become records now. */
  notes: ClaimedNote[];
  /** Of these notes, and of those whose day's file cannot be read: the file is to stay for them. */
  ids: string[];
}

interface ClaimOptions {
  /** Who claims; see `identifyProcess`. */
  owner: string;
  /** Milliseconds since 1970. */
  now: number;
  log: Log;
}

/**
 * Takes over the notes below the ledger's `directory` whose daemons are no longer running. To claim a file of them is to rename it, which
 * only one process can do. Of several notes of one record the last counts. Notes of records that are in their day's file, as after a
 * crash in between, do not count, and a file without any that counts is removed. Torn notes are set aside. Whatever is wrong with one
 * file is logged. Throws when the directory cannot be read.
 */
export function claimNotes(directory: string, options: ClaimOptions): ClaimedFile[] {
  const files = listNotes(directory).flatMap((name) => {
    try {
      return claim(directory, name, options) ?? [];
    } catch (error) {
      // Another daemon, which started at the same time, was faster.
      if (!hasCode(error, "ENOENT")) reportNote(join(directory, NOTES_DIRECTORY, name), error, options.log);
      return [];
    }
  });
  const last = lastNotes(files.flatMap(({ notes }) => notes));
  const days = [...new Set([...last.values()].map(({ ts }) => dayOf(ts)))];
  const recorded = new Map(days.map((day) => [day, findRecorded(directory, day, last, options.log)]));
  return files.flatMap(({ path, notes }) => {
    const missing = notes.filter((note) => {
      return last.get(note.id) === note && recorded.get(dayOf(note.ts))?.has(note.id) !== true;
    });
    if (missing.length === 0) {
      removeNotes(path, options.log);
      return [];
    }
    const known = missing.filter(({ ts }) => recorded.get(dayOf(ts)) !== null);
    return [{ path, notes: known, ids: missing.map(({ id }) => id) }];
  });
}

/** Returns null for what is not a file of notes, or not to be claimed. */
function claim(
  directory: string,
  name: string,
  { owner, now, log }: ClaimOptions,
): { path: string; notes: ClaimedNote[] } | null {
  const file = parseNoteFileName(name);
  const found = join(directory, NOTES_DIRECTORY, name);
  if (file === null || file.owner === owner || isRunning(file.owner, fs.lstatSync(found).mtimeMs))
    return null;
  if (!file.isWhole) {
    fs.unlinkSync(found);
    return null;
  }
  const path = join(directory, NOTES_DIRECTORY, noteFileName({ name: file.name, owner }));
  fs.renameSync(found, path);
  const text = readPrivateFile(path).toString();
  // Nothing was under way.
  if (text === "" && file.name.startsWith(UNSENT)) return { path, notes: [] };
  const read = parseNotes(text);
  if (read === null) return null;
  if (read.torn !== null) {
    const [bytes, tornFile] = [Buffer.from(read.torn), join(directory, tornFileName(dayAt(now)))];
    keepTornNote(bytes, tornFile);
    const facts = { file: path, bytes: bytes.length, torn: tornFile };
    log.warn(facts, "a truncated note of a running request was set aside");
  }
  return { path, notes: read.notes };
}

/** Returns the notes of a file, and what is none; null for a file that a later release wrote, and will read. */
function parseNotes(text: string): { notes: ClaimedNote[]; torn: string | null } | null {
  const notes: ClaimedNote[] = [];
  let torn: string | null = null;
  for (const line of text.split(/(?<=\n)/)) {
    const record = line.endsWith("\n") ? parseRecord(line) : "torn";
    if (record === "unknown_version") return null;
    if (typeof record !== "string" && hasDay(record))
      notes.push({ id: record.id, ts: record.ts, durationMs: record.duration_ms, line });
    else torn = (torn ?? "") + line;
  }
  return { notes, torn };
}

/** The day becomes part of a file name. */
function hasDay({ ts }: UsageRecord): boolean {
  return parseLedgerFileName(dayFileName(dayOf(ts))) !== null;
}

/** Returns the last note of each record, by its id. A later one has lasted longer. */
function lastNotes(notes: readonly ClaimedNote[]): Map<string, ClaimedNote> {
  const last = new Map<string, ClaimedNote>();
  for (const note of notes) {
    const other = last.get(note.id);
    if (other === undefined || note.durationMs > other.durationMs) last.set(note.id, note);
  }
  return last;
}

/** Returns which of the notes' records are in the day's file; null when that cannot be read. */
function findRecorded(
  directory: string,
  day: string,
  notes: ReadonlyMap<string, ClaimedNote>,
  log: Log,
): Set<string> | null {
  const path = join(directory, dayFileName(day));
  try {
    return findRecords(path, new Set(notes.keys()));
  } catch (error) {
    reportNote(path, error, log);
    return null;
  }
}

function removeNotes(path: string, log: Log): void {
  try {
    fs.unlinkSync(path);
  } catch (error) {
    reportNote(path, error, log);
  }
}

function readPrivateFile(path: string): Buffer {
  const fd = openPrivateFile(path);
  try {
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function reportNote(file: string, error: unknown, log: Log): void {
  const hint = fixOf(error);
  log.warn({ file, reason: messageOf(error), hint }, "a note of a running request cannot be used");
}
