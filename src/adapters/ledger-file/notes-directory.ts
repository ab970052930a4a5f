import * as fs from "node:fs";
import { join } from "node:path";
import { Failure } from "../../core/failure.ts";
import { NOTES_DIRECTORY } from "../../core/ledger/note-file.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import { ensureSafeDirectory } from "./private-file.ts";

/**
 * Creates the directory of notes in the ledger's `directory`, and returns its path. Throws a Failure when others could have put
 * something into it, or replaced it (SECURITY.md E4).
 */
export function ensureNotesDirectory(directory: string): string {
  ensureSafeDirectory(directory);
  const path = join(directory, NOTES_DIRECTORY);
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) {
    const away = `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`;
    throw new Failure(`tollkeeper does not write to ${path}: it is not a directory`, away);
  }
  ensureSafeDirectory(path);
  return path;
}

/** Returns the names of the files in the directory of notes. Throws what {@link ensureNotesDirectory} throws. */
export function listNotes(directory: string): string[] {
  const path = join(directory, NOTES_DIRECTORY);
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
  return fs.readdirSync(ensureNotesDirectory(directory));
}
