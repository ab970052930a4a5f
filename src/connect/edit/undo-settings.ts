import type { PathSegment } from "../../tools/setting.ts";
import { editorFor } from "../formats/editor-for.ts";
import { applyEdit, splitByteOrderMark } from "../formats/text-edits.ts";
import type { UnrestoredReason } from "./file-change.ts";
import { removeSetting } from "./remove-setting.ts";
import { sha256, type UndoRecord, type WrittenSetting } from "./undo-record.ts";

export interface UndoResult {
  /** null: the file did not exist before, and nothing but our settings is in it. */
  text: string | null;
  unrestored: readonly { keyPath: readonly PathSegment[]; reason: UnrestoredReason }[];
  /** True when the text is byte for byte what it was; false when the file was edited since. */
  isExact: boolean;
}

/**
 * Reverts what `applySettings` wrote. An unedited text becomes byte for byte what it was. From an edited text only our
 * settings are removed, as exactly as they can be located; those with another value now stay.
 * @throws DocumentError when the text cannot be parsed
 */
export function undoSettings(text: string, undo: UndoRecord): UndoResult {
  const hash = sha256(text);
  if (hash === undo.before) return { text, unrestored: [], isExact: true };
  if (hash === undo.after) {
    const before = revertEdits(text, undo);
    if (undo.before === null && before === "") return { text: null, unrestored: [], isExact: true };
    if (sha256(before) === undo.before) return { text: before, unrestored: [], isExact: true };
  }
  return removeSettings(text, undo);
}

/** Reverts the edits, the last one first, each at its recorded offset. */
function revertEdits(text: string, { written }: UndoRecord): string {
  const { mark, body } = splitByteOrderMark(text);
  return mark + written.toReversed().reduce(revertEdit, body);
}

function revertEdit(text: string, { offset, inserted, replaced }: WrittenSetting): string {
  return applyEdit(text, { offset, length: inserted.length, text: replaced });
}

function removeSettings(text: string, { format, owner, written, before }: UndoRecord): UndoResult {
  const editor = editorFor(format, owner);
  const { mark, body } = splitByteOrderMark(text);
  const unrestored: UndoResult["unrestored"][number][] = [];
  let current = body;
  for (const setting of written.toReversed()) {
    const { text: rest, reason } = removeSetting(current, setting, editor);
    if (reason !== null) unrestored.unshift({ keyPath: setting.at, reason });
    current = rest;
  }
  const isOurs = before === null && isEmptyDocument(current);
  return { text: isOurs ? null : mark + current, unrestored, isExact: false };
}

/** True for white space, and for an empty JSON object. */
function isEmptyDocument(text: string): boolean {
  return /^\s*(?:\{\s*\}\s*)?$/.test(text);
}
