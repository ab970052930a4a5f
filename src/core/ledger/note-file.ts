/**
 * The directory next to the daily files, with the lines that the ledger gets if the daemon is killed: one for each exchange that has been
 * under way for a while. Those that were noted together share a file.
 */
export const NOTES_DIRECTORY = "under-way";

/** How the name of a file begins to which notes are added one by one, before their requests leave. It is empty while none is under way. */
export const UNSENT = "unsent-";

/** `NAME.OWNER.json`, and `NAME.OWNER.json.new` while it is being written. */
const NOTE_FILE = /^([\w-]+)\.(\d+-[\w-]+)\.json(\.new)?$/;

/** What the name of a file of notes says. */
interface NoteFile {
  /** Distinguishes the files of a process. */
  name: string;
  /** The process that wrote it, beginning with its pid. */
  owner: string;
}

export function noteFileName({ name, owner }: NoteFile): string {
  return `${name}.${owner}.json`;
}

/** Parses the name of a file in the directory of notes; null for names that are not a note's. */
export function parseNoteFileName(file: string): (NoteFile & { isWhole: boolean }) | null {
  const [, name, owner, unfinished] = NOTE_FILE.exec(file) ?? [];
  return name === undefined || owner === undefined
    ? null
    : { name, owner, isWhole: unfinished === undefined };
}
