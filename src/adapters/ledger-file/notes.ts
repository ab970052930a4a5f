import * as fs from "node:fs";
import { basename, join } from "node:path";
import { messageOf } from "../../core/failure.ts";
import { dayOf } from "../../core/ledger/day.ts";
import { NOTES_DIRECTORY, noteFileName, UNSENT } from "../../core/ledger/note-file.ts";
import type { Clock, Log } from "../../ports.ts";
import type { PendingLine } from "./backlog.ts";
import { claimNotes } from "./claim-notes.ts";
import { ensureNotesDirectory } from "./notes-directory.ts";
import { openPrivateFile } from "./private-file.ts";
import { identifyProcess } from "./process-identity.ts";
import { fixOf } from "../system-fix.ts";
import { about } from "../../core/system-error.ts";

/** How often the directory is checked, and created if it no longer exists. */
const CHECK_MS = 1000;

/** A file to which notes are added is as long as this at most. The next one begins another, so that it does not grow while it is in use. */
const ADDED_BYTES = 256 * 1024;

/** Where the ledger is, with the clock and the log to use. */
interface NotesOptions {
  directory: string;
  clock: Clock;
  log: Log;
}

/** A note of one exchange. */
interface Note {
  /** The id of its record. */
  id: string;
  /** The record, as a line. */
  line: string;
}

/** A file of notes that were written together. */
interface NotesFile {
  path: string;
  /** Of the notes that still count: their records are not written, and no other file has later notes of them. */
  ids: Set<string>;
}

/** The file to which notes are added one by one. */
interface OpenNotes {
  file: NotesFile;
  fd: number;
  bytes: number;
}

/**
 * Notes of the exchanges under way, so that a crash does not hide them (SECURITY.md E7). Each is a line: the record as it would be
 * after a crash at that moment. Those that are written together are a file, which is removed once the records themselves are in their
 * days' files. The notes of a daemon that has crashed become records. No method throws.
 */
export class Notes {
  readonly #options: NotesOptions;
  readonly #owner = identifyProcess();
  #directory: string;
  /** The file of each note, by the id of its record. */
  readonly #files = new Map<string, NotesFile>();
  #open: OpenNotes | null = null;
  /** When the directory was last found safe, by the monotonic clock. */
  #checkedAt = -Infinity;
  #isFailureLogged = false;

  constructor(options: NotesOptions) {
    this.#options = options;
    this.#directory = options.directory;
  }

  has(id: string): boolean {
    return this.#files.size > 0 && this.#files.has(id);
  }

  /** Writes notes, in place of earlier ones of the same records. Returns false when the disk refuses them. */
  write(notes: readonly Note[]): boolean {
    const name = noteFileName({ name: crypto.randomUUID(), owner: this.#owner });
    const path = join(this.#directory, NOTES_DIRECTORY, name);
    try {
      this.#checkDirectory();
      writeWhole(path, notes.map(({ line }) => line).join(""));
    } catch (error) {
      this.#onFailure(error);
      return false;
    }
    this.#isFailureLogged = false;
    this.#keep(
      path,
      notes.map(({ id }) => id),
    );
    return true;
  }

  /** Writes one note to a file that stays open, which takes 10 µs instead of 100. Returns false when the disk refuses it. */
  add({ id, line }: Note): boolean {
    try {
      const open = this.#openForAdding();
      const bytes = Buffer.byteLength(line);
      open.bytes += bytes;
      if (fs.writeSync(open.fd, line) < bytes) throw new Error("only a part of a note could be written");
      if (this.#files.get(id) !== open.file) this.remove(id);
      open.file.ids.add(id);
      this.#files.set(id, open.file);
    } catch (error) {
      this.#closeOpen();
      this.#onFailure(error);
      return false;
    }
    this.#isFailureLogged = false;
    return true;
  }

  close(): void {
    this.#closeOpen();
  }

  #openForAdding(): OpenNotes {
    const wasChecked = this.#checkedAt;
    this.#checkDirectory();
    const isInPlace = () => this.#open !== null && fs.existsSync(this.#open.file.path);
    if (
      this.#open !== null &&
      (this.#open.bytes > ADDED_BYTES || (wasChecked !== this.#checkedAt && !isInPlace()))
    )
      this.#closeOpen();
    if (this.#open !== null) return this.#open;
    const name = noteFileName({ name: UNSENT + crypto.randomUUID(), owner: this.#owner });
    const path = join(this.#directory, NOTES_DIRECTORY, name);
    this.#open = { file: { path, ids: new Set() }, fd: openPrivateFile(path), bytes: 0 };
    return this.#open;
  }

  /** The notes that still count stay, as in any other file. */
  #closeOpen(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    fs.closeSync(open.fd);
    if (open.file.ids.size === 0) removeFile(open.file.path);
  }

  #onFailure(error: unknown): void {
    this.#checkedAt = -Infinity;
    // Once, and again after notes could be written.
    if (!this.#isFailureLogged)
      this.#warn(error, "running requests cannot be noted; a crash would hide them");
    this.#isFailureLogged = true;
  }

  /** Lets the notes in a file count in place of earlier ones. */
  #keep(path: string, ids: readonly string[]): void {
    const file = { path, ids: new Set(ids) };
    for (const id of ids) {
      this.remove(id);
      this.#files.set(id, file);
    }
  }

  /** Removes the note of a record that is in its day's file. */
  remove(id: string): void {
    const file = this.#files.get(id);
    if (file === undefined) return;
    this.#files.delete(id);
    file.ids.delete(id);
    if (file.ids.size > 0) return;
    if (file === this.#open?.file) this.#empty(this.#open);
    else removeFile(file.path);
  }

  #empty(open: OpenNotes): void {
    try {
      fs.ftruncateSync(open.fd);
      open.bytes = 0;
    } catch {
      this.#closeOpen();
    }
  }

  /**
   * Takes over the notes of daemons that have crashed, and returns their records, to be written; with each, its note is to be
   * removed.
   */
  recover(): PendingLine[] {
    const { clock, log } = this.#options;
    const directory = this.#directory;
    try {
      const claimed = claimNotes(directory, { owner: this.#owner, now: clock.now(), log });
      for (const { path, ids } of claimed) this.#keep(path, ids);
      const left = claimed.flatMap(({ notes }) => notes);
      const requests = left.length;
      if (requests > 0) log.warn({ directory, requests }, "recorded the requests that a crash interrupted");
      const inOrder = left.toSorted((one, other) => Date.parse(one.ts) - Date.parse(other.ts));
      return inOrder.map(({ id, ts, line }) => ({ day: dayOf(ts), line, noteId: id }));
    } catch (error) {
      this.#warn(error, "the notes cannot be read; requests that a crash interrupted may be missing");
      return [];
    }
  }

  /** Continues in another directory, with the notes that there are. */
  moveTo(directory: string): void {
    this.#closeOpen();
    this.#directory = directory;
    this.#checkedAt = -Infinity;
    for (const file of new Set(this.#files.values())) {
      const { path } = file;
      try {
        const moved = join(ensureNotesDirectory(directory), basename(path));
        // Not a rename, which fails between file systems.
        writeWhole(moved, fs.readFileSync(path, "utf8"));
        file.path = moved;
        fs.unlinkSync(path);
      } catch (error) {
        this.#warn(error, "the notes of running requests cannot be moved");
      }
    }
  }

  #checkDirectory(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#checkedAt < CHECK_MS) return;
    ensureNotesDirectory(this.#directory);
    this.#checkedAt = now;
  }

  #warn(error: unknown, message: string): void {
    const hint = fixOf(error);
    this.#options.log.warn({ directory: this.#directory, reason: messageOf(error), hint }, message);
  }
}

function removeFile(path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // The next start finds the records in their days' files, and removes the notes.
  }
}

/** Writes a file whole or not at all, whenever the process is killed. */
function writeWhole(path: string, lines: string): void {
  const unfinished = `${path}.new`;
  try {
    writeNewFile(unfinished, lines);
    fs.renameSync(unfinished, path);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw error;
  }
}

function writeNewFile(path: string, lines: string): void {
  const fd = openPrivateFile(path);
  try {
    about(path, () => fs.writeFileSync(fd, lines));
  } finally {
    fs.closeSync(fd);
  }
}
