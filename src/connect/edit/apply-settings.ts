import { redactSecrets } from "../../core/secrets/redact.ts";
import type { Format, Setting, Value } from "../../tools/setting.ts";
import { editorFor } from "../formats/editor-for.ts";
import { DocumentError, type FormatEditor } from "../formats/format-editor.ts";
import { applyEdit, splitByteOrderMark } from "../formats/text-edits.ts";
import { findKeys, holdsSecret } from "./find-secrets.ts";
import { formatKeyPath, isEqual, isTable, resolveKeyPath, toJson, toListItem } from "./key-path.ts";
import type { ResolvedKeyPath } from "./key-path.ts";
import { planEdit } from "./plan-edit.ts";
import { sha256, type UndoRecord, type WrittenSetting } from "./undo-record.ts";

/**
 * Gives settings their values in a text; null stands for a missing file. Settings that already have their value are left
 * alone, and so is everything else: after each edit the text is parsed and compared with what it should be.
 * @throws DocumentError when the text cannot be parsed, or a setting cannot be written
 */
export function applySettings(
  text: string | null,
  { format, settings }: { format: Format; settings: readonly Setting[] },
  owner: string,
): { text: string; undo: UndoRecord } {
  const editor = editorFor(format, owner);
  const { mark, body } = splitByteOrderMark(text ?? "");
  const top = editor.read(body);
  const written: WrittenSetting[] = [];
  let current = body;
  for (const setting of settings) {
    const original = resolveKeyPath(top, setting.keyPath);
    const applied = withOriginalOffsets(written, () => applySetting(current, setting, editor, original));
    if (applied === null) continue;
    written.push(applied.written);
    current = applied.text;
  }
  const after = mark + current;
  const before = text === null ? null : sha256(text);
  return { text: after, undo: { format, owner, before, after: sha256(after), written } };
}

/** Maps the offset of an error back to the original text, which is the one the person knows. */
function withOriginalOffsets<Result>(written: readonly WrittenSetting[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof DocumentError) || error.offset === null) throw error;
    throw new DocumentError(error.message, written.toReversed().reduce(offsetBefore, error.offset));
  }
}

/** Maps an offset in the text after an edit to the text before it. */
function offsetBefore(after: number, { offset, inserted, replaced }: WrittenSetting): number {
  if (after < offset + inserted.length) return Math.min(after, offset);
  return after - inserted.length + replaced.length;
}

/** Applies and verifies one edit; null when none is needed. `original`: the setting before all of our edits. */
function applySetting(
  text: string,
  requested: Setting,
  editor: FormatEditor,
  original: ResolvedKeyPath,
): { text: string; written: WrittenSetting } | null {
  const setting = { ...requested, value: completeValue(requested) };
  const planned = planEdit(text, setting, editor);
  if (planned === null) return null;
  const { edit, resolved, expected } = planned;
  const after = applyEdit(text, edit);
  if (!isEqual(editor.read(after), expected)) {
    const message = `${formatKeyPath(setting.keyPath)} cannot be set without changing something else`;
    throw new DocumentError(message, edit.offset);
  }
  const replaced = text.slice(edit.offset, edit.offset + edit.length);
  const before = classifyFormer(setting, resolved, original, edit.offset, replaced);
  const written: WrittenSetting = {
    at: setting.keyPath,
    value: setting.value,
    depth: original.path.length,
    before,
    former: before === "value" ? toJson(resolved.value) : null,
    offset: edit.offset,
    inserted: edit.text,
    replaced: before === "key" ? "" : replaced,
    ...(setting.acceptsAnyValue === true && { isAnyFine: true }),
  };
  return { text: after, written };
}

/** A list item keeps the fields by which it is found. */
function completeValue({ keyPath, value }: Setting): Value {
  const last = keyPath.at(-1);
  return typeof last === "object" && isTable(value) ? toListItem(last, value) : value;
}

/** @throws DocumentError when the former value is a login: it may not be kept, and could not be restored */
function classifyFormer(
  { keyPath }: Setting,
  { path, value }: ResolvedKeyPath,
  original: ResolvedKeyPath,
  offset: number,
  replaced: string,
): WrittenSetting["before"] {
  if (path.length < keyPath.length) return original.value === null ? "null" : "nothing";
  if (findKeys(keyPath, value).length > 0) return "key";
  if (!holdsSecret(keyPath, value) && redactSecrets(replaced, []) === replaced) return "value";
  throw new DocumentError(`${formatKeyPath(keyPath)} holds a login, which would be lost`, offset);
}
