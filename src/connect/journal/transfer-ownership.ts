import { isEqual } from "../edit/key-path.ts";
import type { ConnectionId } from "./connection-id.ts";
import type { FilePlan } from "./file-plan.ts";
import { readJournals, replaceJournal, type FileRecord } from "./journal.ts";

/**
 * Hands over the files that a connection created and that stay because another connection wrote to them too: from now on
 * the other one's journal says that the file and its directories did not exist before.
 * @throws Failure when that journal cannot be written
 */
export function transferOwnership(directory: string, id: ConnectionId, plans: readonly FilePlan[]): void {
  const remaining = plans.filter(
    ({ change, record }) => change.after !== null && record?.undo.before === null,
  );
  if (remaining.length === 0) return;
  for (const journal of readJournals(directory)) {
    if (isEqual(journal.identity, id)) continue;
    const files = journal.files.map((file) => inheritFile(file, remaining));
    if (!isEqual(files, journal.files)) replaceJournal(directory, journal, { ...journal, files });
  }
}

function inheritFile(file: FileRecord, plans: readonly FilePlan[]): FileRecord {
  const record = plans.find(({ change }) => change.path === file.path)?.record ?? null;
  if (record === null) return file;
  return {
    ...file,
    undo: { ...file.undo, before: null },
    made: [...new Set([...record.made, ...file.made])],
  };
}
