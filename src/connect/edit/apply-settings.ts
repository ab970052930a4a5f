import { redactSecrets } from "../../core/secrets/redact-text.ts";
import type { Format, PathSegment, Setting, Value } from "../../tools/setting.ts";
import { editorFor } from "../formats/editor-for.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "../formats/format-editor.ts";
import { applyEdit, splitByteOrderMark, type Edit } from "../formats/text-edits.ts";
import { findKeys, holdsSecret } from "./find-secrets.ts";
import { formatKeyPath, isEqual, resolveKeyPath, toJson, toListItem, withValue } from "./key-path.ts";
import type { ResolvedKeyPath } from "./key-path.ts";
import { sha256, type UndoRecord, type WrittenSetting } from "./undo-record.ts";

/**
 * Gives settings their values in a text; null stands for a missing file. Settings that already have their value stay as
 * they are, and so does everything else: after each edit the text is parsed and compared with what it should be.
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

/** Maps the offset of an error back to the original text, which is the one the user sees. */
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
  const { keyPath, acceptsAnyValue, isStatusLine, isMcpServer } = requested;
  const last = keyPath.at(-1);
  const value = typeof last === "object" ? toListItem(last, requested.value) : requested.value;
  const planned = planEdit(text, { ...requested, value }, editor);
  if (planned === null) return null;
  const { edit, resolved, expected } = planned;
  const after = applyEdit(text, edit);
  if (!isEqual(editor.read(after), expected)) {
    const message = `${formatKeyPath(keyPath)} cannot be set without changing something else`;
    throw new DocumentError(message, edit.offset);
  }
  const replaced = text.slice(edit.offset, edit.offset + edit.length);
  const before = classifyFormer(keyPath, resolved, original, edit.offset, replaced);
  const written: WrittenSetting = {
    at: keyPath,
    value,
    depth: original.path.length,
    before,
    former: before === "value" ? toJson(resolved.value) : null,
    offset: edit.offset,
    inserted: edit.text,
    replaced: before === "key" ? "" : replaced,
    ...(acceptsAnyValue === true && { isAnyFine: true }),
    ...(isStatusLine === true && { isStatusLine: true }),
    ...(isMcpServer === true && { isMcpServer: true }),
  };
  return { text: after, written };
}

/** The edit that gives a setting its value. */
interface PlannedEdit {
  edit: Edit;
  /** The setting before the edit. */
  resolved: ResolvedKeyPath;
  /** The whole document after the edit, if the edit changes nothing else. */
  expected: unknown;
}

/**
 * Plans the edit of one setting; null when it already has its value.
 * @throws DocumentError when the document has something else on the path
 */
function planEdit(
  text: string,
  { keyPath, value, acceptsAnyValue }: Setting,
  editor: FormatEditor,
): PlannedEdit | null {
  const top = editor.read(text);
  const resolved = resolveKeyPath(top, keyPath);
  const { path, obstacle } = resolved;
  if (obstacle !== null) {
    const place = path.length === 0 ? "the top" : path.join(".");
    throw new DocumentError(`${place} ${obstacle}`, editor.find(text, path).offset);
  }
  const next = keyPath[path.length];
  const isSet = acceptsAnyValue === true ? resolved.value !== null : isEqual(resolved.value, value);
  if (next === undefined && isSet) return null;
  const plan = (edit: Edit, changed: ResolvedPath, to: Value) => {
    const start = path.length === 0 ? resolved.value : top;
    return { edit, resolved, expected: withValue(start, changed, to) };
  };
  if (next === undefined || resolved.value === null) {
    const replacement = wrapValue(keyPath.slice(path.length), value);
    return plan(editor.replace(text, path, replacement), path, replacement);
  }
  const missing = wrapValue(keyPath.slice(path.length + 1), value);
  if (typeof next === "string") return plan(editor.add(text, path, next, missing), [...path, next], missing);
  const item = toListItem(next, missing);
  const count = (resolved.value as readonly unknown[]).length;
  return plan(editor.append(text, path, item), [...path, count], item);
}

/** Wraps a value in the objects and lists that the missing segments stand for. */
function wrapValue(segments: readonly PathSegment[], value: Value): Value {
  return segments.reduceRight<Value>(
    (inner, segment) => (typeof segment === "string" ? { [segment]: inner } : [toListItem(segment, inner)]),
    value,
  );
}

/** @throws DocumentError when what is replaced is or holds a login: it may not be kept, and could not be restored */
function classifyFormer(
  keyPath: readonly PathSegment[],
  { path, value }: ResolvedKeyPath,
  original: ResolvedKeyPath,
  offset: number,
  replaced: string,
): WrittenSetting["before"] {
  const isHarmless = redactSecrets(replaced, []) === replaced;
  if (path.length < keyPath.length) {
    if (isHarmless) return original.value === null ? "null" : "nothing";
    throw new DocumentError(
      `${formatKeyPath(keyPath)} cannot be added after a comment that contains a key`,
      offset,
    );
  }
  if (findKeys(keyPath, value).length > 0) return "key";
  if (!holdsSecret(keyPath, value) && isHarmless) return "value";
  throw new DocumentError(`${formatKeyPath(keyPath)} contains a login, which would be lost`, offset);
}
