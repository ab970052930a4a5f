import type { PathSegment, Setting, Value } from "../../tools/setting.ts";
import { DocumentError, type FormatEditor } from "../formats/format-editor.ts";
import type { Edit } from "../formats/text-edits.ts";
import { isEqual, resolveKeyPath, toListItem, withValue, type ResolvedKeyPath } from "./key-path.ts";

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
export function planEdit(
  text: string,
  { keyPath, value, acceptsAnyValue }: Setting,
  editor: FormatEditor,
): PlannedEdit | null {
  const top = editor.read(text);
  const resolved = resolveKeyPath(top, keyPath);
  const { path, obstacle } = resolved;
  if (obstacle !== null)
    throw new DocumentError(`${path.join(".")} ${obstacle}`, editor.find(text, path).offset);
  const next = keyPath[path.length];
  const isSet = acceptsAnyValue === true ? resolved.value !== null : isEqual(resolved.value, value);
  if (next === undefined && isSet) return null;
  if (next === undefined || resolved.value === null) {
    const replacement = next === undefined ? value : buildMissing(keyPath.slice(path.length), value);
    const expected = withValue(top, path, replacement);
    return { edit: editor.replace(text, path, replacement), resolved, expected };
  }
  const missing = buildMissing(keyPath.slice(path.length + 1), value);
  if (typeof next === "string") {
    const expected = withValue(top, [...path, next], missing);
    return { edit: editor.add(text, path, next, missing), resolved, expected };
  }
  const item = toListItem(next, missing);
  const count = (resolved.value as readonly unknown[]).length;
  return {
    edit: editor.append(text, path, item),
    resolved,
    expected: withValue(top, [...path, count], item),
  };
}

/** Wraps a value in the objects and lists that the missing segments stand for. */
function buildMissing(segments: readonly PathSegment[], value: Value): Value {
  return segments.reduceRight<Value>(
    (inner, segment) => (typeof segment === "string" ? { [segment]: inner } : [toListItem(segment, inner)]),
    value,
  );
}
