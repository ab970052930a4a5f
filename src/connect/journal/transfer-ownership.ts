import type { Identity } from "../connection.ts";
import type { FilePlan } from "../edit/file-plan.ts";
import { readJournals, replaceJournal, type FileRecord } from "./journal.ts";
import { isSame } from "../edit/setting-path.ts";

/**
 * A file which we made, and which stays because another connection has written in it too, is to go with that one: what
 * is known of it, and of the directories that were made for it, is written down there.
 */
export function transferOwnership(directory: string, identity: Identity, plans: readonly FilePlan[]): void {
  const staying = plans.filter(({ change, record }) => change.after !== null && record?.undo.before === null);
  if (staying.length === 0) return;
  for (const journal of readJournals(directory)) {
    if (isSame(journal.identity, identity)) continue;
    const files = journal.files.map((file) => heirOf(file, staying));
    if (!isSame(files, journal.files)) replaceJournal(directory, journal, { ...journal, files });
  }
}

function heirOf(file: FileRecord, plans: readonly FilePlan[]): FileRecord {
  const record = plans.find(({ change }) => change.path === file.path)?.record ?? null;
  if (record === null) return file;
  return {
    ...file,
    undo: { ...file.undo, before: null },
    made: [...new Set([...record.made, ...file.made])],
  };
}
