import { DocumentError, type FormatEditor, type ResolvedPath } from "../formats/format-editor.ts";
import { applyEdit } from "../formats/text-edits.ts";
import type { UnrestoredReason } from "./file-change.ts";
import { formatKeyPath, isEmptyWithout, isEqual, resolveKeyPath, toJson, withValue } from "./key-path.ts";
import type { WrittenSetting } from "./undo-record.ts";

interface Removal {
  text: string;
  /** null: the setting is what it was before. */
  reason: UnrestoredReason | null;
}

/** Removes one of our settings from a text that may have been edited since, or restores its former value. */
export function removeSetting(text: string, written: WrittenSetting, editor: FormatEditor): Removal {
  const { path, value } = resolveKeyPath(editor.read(text), written.at);
  const exists = path.length === written.at.length;
  if (!exists) return { text, reason: written.before === "value" ? "changed" : null };
  if (!isEqual(value, written.value) && written.isAnyFine !== true) {
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
  const isCorrect = (candidate: string) => hasFormerValue(candidate, text, written, path, editor);
  const exact = revertExactly(text, written, path, editor, isCorrect);
  if (exact !== null) return exact;
  const asWritten = applyEdit(text, { ...editor.find(text, path), text: written.replaced });
  if (isCorrect(asWritten)) return asWritten;
  const reprinted = applyEdit(text, editor.replace(text, path, written.former));
  if (isCorrect(reprinted)) return reprinted;
  throw new DocumentError(`the former value of ${formatKeyPath(written.at)} cannot be put back`, null);
}

/** Removes the setting and the containers created for it, as far as nothing else is in them. */
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
  const isCorrect = (candidate: string) => isEqual(tryRead(candidate, editor), expected);
  const exact = revertExactly(text, written, path, editor, isCorrect);
  if (exact !== null) return exact;
  const plain = becomesNull
    ? applyEdit(text, editor.replace(text, outermost, null))
    : editor.remove(text, outermost);
  if (isCorrect(plain)) return plain;
  throw new DocumentError(
    `${formatKeyPath(written.at)} cannot be taken out without changing something else`,
    null,
  );
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

/** Reverts exactly the inserted characters; null when they are no longer around the setting. */
function revertExactly(
  text: string,
  { inserted, replaced }: WrittenSetting,
  path: ResolvedPath,
  editor: FormatEditor,
  isCorrect: (candidate: string) => boolean,
): string | null {
  const { offset, length } = editor.find(text, path);
  const first = Math.max(0, offset + length - inserted.length);
  for (
    let start = text.indexOf(inserted, first);
    start !== -1 && start <= offset;
    start = text.indexOf(inserted, start + 1)
  ) {
    const candidate = applyEdit(text, { offset: start, length: inserted.length, text: replaced });
    if (isCorrect(candidate)) return candidate;
  }
  return null;
}

/** True when the setting has its former value and everything else is unchanged. */
function hasFormerValue(
  text: string,
  before: string,
  { at, former }: WrittenSetting,
  path: ResolvedPath,
  editor: FormatEditor,
): boolean {
  const top = tryRead(text, editor);
  const resolved = resolveKeyPath(top, at);
  const isFormer = resolved.path.length === at.length && isEqual(toJson(resolved.value), former);
  return isFormer && isEqual(withValue(top, path, null), withValue(editor.read(before), path, null));
}

/** null when the text cannot be parsed. */
function tryRead(text: string, editor: FormatEditor): unknown {
  try {
    return editor.read(text);
  } catch (error) {
    if (error instanceof DocumentError) return null;
    throw error;
  }
}
