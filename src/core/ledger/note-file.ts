/**
 * The directory next to the daily files, with a file for each exchange that has been under way for a while: the line that the
 * ledger gets if the daemon is killed.
 */
export const NOTES_DIRECTORY = "under-way";

/** `ID.OWNER.json`, and `ID.OWNER.json.new` while it is being written. */
const NOTE_FILE = /^([\w-]+)\.(\d+-[\w-]+)\.json(\.new)?$/;

/** What the name of a note's file says. */
interface NoteFile {
  /** The id of the record. */
  id: string;
  /** The process that wrote it, beginning with its pid. */
  owner: string;
}

export function noteFileName({ id, owner }: NoteFile): string {
  return `${id}.${owner}.json`;
}

/** Parses the name of a file in the directory of notes; null for names that are not a note's. */
export function parseNoteFileName(name: string): (NoteFile & { isWhole: boolean }) | null {
  const [, id, owner, unfinished] = NOTE_FILE.exec(name) ?? [];
  return id === undefined || owner === undefined ? null : { id, owner, isWhole: unfinished === undefined };
}
