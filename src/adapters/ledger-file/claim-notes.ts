import * as fs from "node:fs";
import { join } from "node:path";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { dayAt, dayFileName, dayOf, parseLedgerFileName, tornFileName } from "../../core/ledger/day.ts";
import { NOTES_DIRECTORY, noteFileName, parseNoteFileName } from "../../core/ledger/note-file.ts";
import { parseRecord } from "../../core/ledger/parse-record.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Log } from "../../ports.ts";
import { findRecords } from "./find-records.ts";
import { listNotes } from "./notes-directory.ts";
import { openPrivateFile } from "./private-file.ts";
import { isRunning } from "./process-identity.ts";
import { keepTornLine } from "./truncated-line.ts";

/** A note that is now this process's, and whose record is in no day's file. */
interface ClaimedNote {
  id: string;
  path: string;
  ts: string;
  /** The record's line, with a newline at its end. */
  line: string;
}

interface ClaimOptions {
  /** Who claims; see `identifyProcess`. */
  owner: string;
  /** Milliseconds since 1970. */
  now: number;
  log: Log;
}

/**
 * Takes over the notes below the ledger's `directory` whose daemons are no longer running, oldest record first. To claim one is
 * to rename it, which only one process can do. Notes of records that are in their day's file, as after a crash in between,
 * are removed; torn ones are set aside. Whatever is wrong with one note is logged. Throws when the directory cannot be read.
 */
export function claimNotes(directory: string, options: ClaimOptions): ClaimedNote[] {
  const claimed = listNotes(directory).flatMap((name) => {
    try {
      return claim(directory, name, options) ?? [];
    } catch (error) {
      // Another daemon, which started at the same time, was faster.
      if (!hasCode(error, "ENOENT")) reportNote(join(directory, NOTES_DIRECTORY, name), error, options.log);
      return [];
    }
  });
  const days = new Set(claimed.map(({ ts }) => dayOf(ts)));
  const left = [...days].flatMap((day) => {
    const ofDay = claimed.filter(({ ts }) => dayOf(ts) === day);
    return removeRecorded(ofDay, join(directory, dayFileName(day)), options.log);
  });
  return left.toSorted((a, b) => Date.parse(a.ts) - Date.parse(b.ts));
}

/** Returns null for what is not a note, or not to be claimed. */
function claim(directory: string, name: string, { owner, now, log }: ClaimOptions): ClaimedNote | null {
  const file = parseNoteFileName(name);
  const found = join(directory, NOTES_DIRECTORY, name);
  if (file === null || file.owner === owner || isRunning(file.owner, fs.lstatSync(found).mtimeMs))
    return null;
  if (!file.isWhole) {
    fs.unlinkSync(found);
    return null;
  }
  const path = join(directory, NOTES_DIRECTORY, noteFileName({ id: file.id, owner }));
  fs.renameSync(found, path);
  const bytes = readPrivateFile(path);
  const line = bytes.toString();
  const record = line.endsWith("\n") ? parseRecord(line) : "unreadable";
  // A later release wrote it, and will read it.
  if (record === "unknown_version") return null;
  if (record !== "unreadable" && isRecordOf(record, file.id))
    return { id: file.id, path, ts: record.ts, line };
  const torn = join(directory, tornFileName(dayAt(now)));
  keepTornLine(bytes, torn);
  fs.unlinkSync(path);
  log.warn({ file: path, bytes: bytes.length, torn }, "a truncated note of a running request was set aside");
  return null;
}

/** The day becomes part of a file name. */
function isRecordOf({ id, ts }: UsageRecord, noted: string): boolean {
  return id === noted && parseLedgerFileName(dayFileName(dayOf(ts))) !== null;
}

/** Removes the notes of the records that are in the day's file, and returns the others. */
function removeRecorded(notes: ClaimedNote[], dayPath: string, log: Log): ClaimedNote[] {
  try {
    const recorded = findRecords(dayPath, new Set(notes.map(({ id }) => id)));
    for (const { id, path } of notes) if (recorded.has(id)) fs.unlinkSync(path);
    return notes.filter(({ id }) => !recorded.has(id));
  } catch (error) {
    reportNote(dayPath, error, log);
    return [];
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
  const hint = error instanceof Failure ? error.hint : undefined;
  log.warn({ file, reason: messageOf(error), hint }, "a note of a running request cannot be used");
}
