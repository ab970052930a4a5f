import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isObject, parseJson } from "../../../core/json.ts";
import { parseCursor, type LedgerCursor } from "../../../core/ledger/after/cursor.ts";
import { readStateFile } from "../../state-file.ts";
import { replaceFileSlowly } from "../../../replace-file.ts";

/** How far a reader of the ledger has come, and what it had made of the records until there. They are written together, so they agree. */
export interface Checkpoint<State> {
  cursor: LedgerCursor;
  state: State;
}

/**
 * Reads a checkpoint; null when there is none, or none that can be used. `parseState` returns null for a state that it does not know.
 * Throws what {@link readStateFile} throws.
 */
export function readCheckpoint<State>(
  path: string,
  parseState: (value: unknown) => State | null,
): Checkpoint<State> | null {
  const text = readStateFile(path);
  const value = text === null ? undefined : parseJson(text);
  if (!isObject(value)) return null;
  const cursor = parseCursor(value["cursor"]);
  const state = parseState(value["state"]);
  return cursor === null || state === null ? null : { cursor, state };
}

/**
 * Replaces a checkpoint, with mode 0600: after a crash there is all of the old one or all of the new. Calls must not overlap. Rejects with an
 * errno error.
 */
export async function saveCheckpoint(path: string, checkpoint: Checkpoint<unknown>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFileSlowly(path, `${JSON.stringify(checkpoint)}\n`, `${path}.new`);
}
