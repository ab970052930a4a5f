import { resolveKeyPath } from "../edit/key-path.ts";
import { tryReadText } from "../edit/target-file.ts";
import { isStillOurs, type UndoRecord } from "../edit/undo-record.ts";
import { readDocument } from "../formats/editor-for.ts";
import { DocumentError } from "../formats/format-editor.ts";
import { readJournal, type ConnectionId, type FileRecord } from "./journal.ts";

/** `connected`: every setting is as written. `changed`: some are not. `gone`: none exists any more. */
export type ConnectionState = "connected" | "changed" | "gone";

/** Compares a connection with the tool's files; null when there is no such connection. */
export function readConnectionState(journalDirectory: string, id: ConnectionId): ConnectionState | null {
  const journal = readJournal(journalDirectory, id);
  if (journal === null) return null;
  const states = journal.files.flatMap(settingStates);
  if (states.every((state) => state === "as-written")) return "connected";
  return states.every((state) => state === "missing") ? "gone" : "changed";
}

type SettingState = "as-written" | "other" | "missing";

/** Returns the state of each setting in a file: of the connection, or of the one before it if that one is in place. */
function settingStates({ path, undo, earlier }: FileRecord): SettingState[] {
  const text = tryReadText(path);
  if (text === null) return undo.written.map(() => "missing");
  const candidates = [undo, earlier].flatMap((one) => (one === null ? [] : [compareSettings(text, one)]));
  const complete = candidates.find((states) => states.every((state) => state === "as-written"));
  return complete ?? candidates[0] ?? [];
}

/** In a file that cannot be parsed, no setting is as written: the tool cannot read it either. */
function compareSettings(text: string, { format, owner, written }: UndoRecord): SettingState[] {
  try {
    const top = readDocument(text, format, owner);
    return written.map((setting) => {
      const resolved = resolveKeyPath(top, setting.at);
      if (resolved.path.length < setting.at.length) return "missing";
      return isStillOurs(resolved.value, setting) ? "as-written" : "other";
    });
  } catch (error) {
    if (error instanceof DocumentError) return written.map(() => "other");
    throw error;
  }
}
