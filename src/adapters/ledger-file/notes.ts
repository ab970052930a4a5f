import * as fs from "node:fs";
import { basename, join } from "node:path";
import { Failure, messageOf } from "../../core/failure.ts";
import { dayOf } from "../../core/ledger/day.ts";
import { NOTES_DIRECTORY, noteFileName } from "../../core/ledger/note-file.ts";
import type { Clock, Log } from "../../ports.ts";
import { appendText } from "./append-text.ts";
import type { PendingLine } from "./backlog.ts";
import { claimNotes } from "./claim-notes.ts";
import { ensureNotesDirectory } from "./notes-directory.ts";
import { openPrivateFile } from "./private-file.ts";
import { identifyProcess } from "./process-identity.ts";

/** How often the directory is checked, and created if it no longer exists. */
const CHECK_MS = 1000;

/** Where the ledger is, with the clock and the log to use. */
interface NotesOptions {
  directory: string;
  clock: Clock;
  log: Log;
}

/**
 * Notes of the exchanges under way, so that a crash does not hide them (SECURITY.md E7). Each is a file of one line: the
 * record as it would be after a crash at that moment. It is removed once the record itself is in its day's file. The notes
 * of a daemon that has crashed become records. No method throws.
 */
export class Notes {
  readonly #options: NotesOptions;
  readonly #owner = identifyProcess();
  #directory: string;
  /** The path of each note, by the id of its record. */
  readonly #paths = new Map<string, string>();
  /** When the directory was last found safe, by the monotonic clock. */
  #checkedAt = -Infinity;
  #isFailureLogged = false;

  constructor(options: NotesOptions) {
    this.#options = options;
    this.#directory = options.directory;
  }

  has(id: string): boolean {
    return this.#paths.size > 0 && this.#paths.has(id);
  }

  /** Writes a note, in place of an earlier one of the same record. Returns false when the disk refuses it. */
  write(id: string, line: string): boolean {
    const name = noteFileName({ id, owner: this.#owner });
    const path = this.#paths.get(id) ?? join(this.#directory, NOTES_DIRECTORY, name);
    try {
      this.#checkDirectory();
      replaceFile(path, line);
      this.#paths.set(id, path);
    } catch (error) {
      this.#checkedAt = -Infinity;
      // Once, and again after notes could be written.
      if (!this.#isFailureLogged)
        this.#warn(error, "running requests cannot be noted; a crash would hide them");
      this.#isFailureLogged = true;
      return false;
    }
    this.#isFailureLogged = false;
    return true;
  }

  /** Removes the note of a record that is in its day's file. */
  remove(id: string): void {
    const path = this.#paths.get(id);
    if (path === undefined) return;
    this.#paths.delete(id);
    try {
      fs.unlinkSync(path);
    } catch {
      // The next start finds the record in its day's file, and removes the note.
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
      for (const { id, path } of claimed) this.#paths.set(id, path);
      const requests = claimed.length;
      if (requests > 0) log.warn({ directory, requests }, "recorded the requests that a crash interrupted");
      return claimed.map(({ id, ts, line }) => ({ day: dayOf(ts), line, noteId: id }));
    } catch (error) {
      this.#warn(error, "the notes cannot be read; requests that a crash interrupted may be missing");
      return [];
    }
  }

  /** Continues in another directory, with the notes that there are. */
  moveTo(directory: string): void {
    this.#directory = directory;
    this.#checkedAt = -Infinity;
    for (const [id, path] of this.#paths) {
      try {
        const moved = join(ensureNotesDirectory(directory), basename(path));
        // Not a rename, which fails between file systems.
        replaceFile(moved, fs.readFileSync(path, "utf8"));
        this.#paths.set(id, moved);
        fs.unlinkSync(path);
      } catch (error) {
        this.#warn(error, "the note of a running request cannot be moved");
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
    const hint = error instanceof Failure ? error.hint : undefined;
    this.#options.log.warn({ directory: this.#directory, reason: messageOf(error), hint }, message);
  }
}

/** Writes a file whole or not at all, whenever the process is killed. */
function replaceFile(path: string, line: string): void {
  const unfinished = `${path}.new`;
  try {
    writeNewFile(unfinished, line);
    fs.renameSync(unfinished, path);
  } catch (error) {
    fs.rmSync(unfinished, { force: true });
    throw error;
  }
}

function writeNewFile(path: string, line: string): void {
  const fd = openPrivateFile(path);
  try {
    appendText(fd, line);
  } finally {
    fs.closeSync(fd);
  }
}
