import type { PathSegment } from "../../tools/setting.ts";
import { editorFor } from "../formats/editor-for.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "../formats/format-editor.ts";
import { applyEdit, splitByteOrderMark, type Span } from "../formats/text-edits.ts";
import type { UnrestoredReason } from "./file-change.ts";
import { formatKeyPath, isEmptyWithout, isEqual, resolveKeyPath, toJson, withValue } from "./key-path.ts";
import { isStillOurs, sha256, type UndoRecord, type WrittenSetting } from "./undo-record.ts";

export interface UndoResult {
  /** null when the file did not exist before and holds only our settings. */
  text: string | null;
  unrestored: readonly { keyPath: readonly PathSegment[]; reason: UnrestoredReason }[];
  /** True when the text is byte for byte what it was; false when the file was edited since. */
  isExact: boolean;
}

/**
 * Reverts what `applySettings` wrote. An unedited text becomes byte for byte what it was. From an edited text only our
 * settings are removed, as exactly as they can be located; settings with another value stay.
 * @throws DocumentError when the text cannot be parsed
 */
export function undoSettings(text: string, undo: UndoRecord): UndoResult {
  const hash = sha256(text);
  if (hash === undo.before) return { text, unrestored: [], isExact: true };
  if (hash === undo.after) {
    const before = revertEdits(text, undo.written);
    if (undo.before === null && before === "") return { text: null, unrestored: [], isExact: true };
    if (sha256(before) === undo.before) return { text: before, unrestored: [], isExact: true };
  }
  return removeSettings(text, undo);
}

/** Reverts the edits, the last one first, each at its recorded offset. */
function revertEdits(text: string, written: readonly WrittenSetting[]): string {
  const { mark, body } = splitByteOrderMark(text);
  let before = body;
  for (const { offset, inserted, replaced } of written.toReversed()) {
    before = applyEdit(before, { offset, length: inserted.length, text: replaced });
  }
  return mark + before;
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
  // Only white space or an empty object or list is left.
  const isEmpty = /^\s*(?:(?:\{\s*\}|\[\s*\])\s*)?$/.test(current);
  if (before === null && isEmpty) return { text: null, unrestored, isExact: false };
  // A file without a byte is no JSON.
  const isGone = format === "jsonc" && current.trim() === "" && body.trim() !== "";
  return { text: mark + (isGone ? "{}\n" : current), unrestored, isExact: false };
}

/**
 * Removes one of our settings from a text that may have been edited since, or restores its former value. The reason is
 * null when the setting is what it was before.
 */
function removeSetting(
  text: string,
  written: WrittenSetting,
  editor: FormatEditor,
): { text: string; reason: UnrestoredReason | null } {
  const { path, value } = resolveKeyPath(editor.read(text), written.at);
  const exists = path.length === written.at.length;
  if (!exists) return { text, reason: written.before === "value" ? "changed" : null };
  if (!isStillOurs(value, written)) {
    const { offset, length } = editor.find(text, path);
    const isRestored = written.before === "value" && text.slice(offset, offset + length) === written.replaced;
    return { text, reason: isRestored ? null : "changed" };
  }
  if (written.before === "value") return { text: restoreFormer(text, written, path, editor), reason: null };
  const rest = removeValue(text, written, path, editor);
  return { text: rest, reason: written.before === "key" ? "was-key" : null };
}

/** Restores the former value as it was written or, where that would now mean something else, as the editor prints it. */
function restoreFormer(
  text: string,
  written: WrittenSetting,
  path: ResolvedPath,
  editor: FormatEditor,
): string {
  const { at, former, replaced } = written;
  const others = withValue(editor.read(text), path, null);
  function* candidates() {
    yield* revertExactly(text, written, editor.find(text, path));
    yield applyEdit(text, { ...editor.find(text, path), text: replaced });
    yield applyEdit(text, editor.replace(text, path, former));
  }
  const found = findCandidate(candidates(), editor, (top) => {
    const resolved = resolveKeyPath(top, at);
    const isFormer = resolved.path.length === at.length && isEqual(toJson(resolved.value), former);
    return isFormer && isEqual(withValue(top, path, null), others);
  });
  if (found !== null) return found;
  throw new DocumentError(`the former value of ${formatKeyPath(at)} cannot be restored`, null);
}

/** Removes the setting, and the containers created for it that hold nothing else. */
function removeValue(
  text: string,
  written: WrittenSetting,
  path: ResolvedPath,
  editor: FormatEditor,
): string {
  const top = editor.read(text);
  const outermost = findOutermost(top, written, path);
  const becomesNull = written.before === "null" && outermost.length === written.depth;
  const expected = withValue(top, outermost, becomesNull ? null : undefined);
  function* candidates() {
    yield* revertExactly(text, written, editor.find(text, path));
    if (becomesNull) yield applyEdit(text, editor.replace(text, outermost, null));
    else yield editor.remove(text, outermost);
  }
  const found = findCandidate(candidates(), editor, (result) => isEqual(result, expected));
  if (found !== null) return found;
  const setting = formatKeyPath(written.at);
  throw new DocumentError(`${setting} cannot be removed without changing something else`, null);
}

/** Returns the first candidate that can be parsed and holds the right data; null when there is none. */
function findCandidate(
  candidates: Iterable<string>,
  editor: FormatEditor,
  isCorrect: (top: unknown) => boolean,
): string | null {
  for (const candidate of candidates) {
    try {
      if (isCorrect(editor.read(candidate))) return candidate;
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
    }
  }
  return null;
}

/** Yields the text with exactly the inserted characters reverted, for each place around the setting where they occur. */
function* revertExactly(text: string, { inserted, replaced }: WrittenSetting, { offset, length }: Span) {
  const first = Math.max(0, offset + length - inserted.length);
  for (
    let start = text.indexOf(inserted, first);
    start !== -1 && start <= offset;
    start = text.indexOf(inserted, start + 1)
  ) {
    yield applyEdit(text, { offset: start, length: inserted.length, text: replaced });
  }
}

/** Returns the path of the outermost container that we created and that holds only the setting, or of the null we filled. */
function findOutermost(
  top: unknown,
  { at, depth, before }: WrittenSetting,
  path: ResolvedPath,
): ResolvedPath {
  const first = before === "null" ? depth - 1 : depth;
  let last = path.length - 1;
  while (last > first) {
    const { value: container } = resolveKeyPath(top, at.slice(0, last));
    const key = path[last];
    if (key === undefined || !isEmptyWithout(container, key, at[last - 1])) break;
    last -= 1;
  }
  return path.slice(0, last + 1);
}
