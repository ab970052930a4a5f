import { orderedJsonc } from "../../connect/formats/jsonc.ts";
import { DocumentError } from "../../connect/formats/format-editor.ts";
import { applyEdit, splitByteOrderMark } from "../../connect/formats/text-edits.ts";
import { isEqual, withValue } from "../../connect/edit/key-path.ts";
import { valueAt } from "../../core/config/rules.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import { formatConfigPath } from "../../core/config/problem.ts";
import { findSetting } from "../../core/config/settings.ts";
import { isObject } from "../../core/json.ts";
import type { Value } from "../../tools/setting.ts";

/**
 * Returns the text of a configuration with another value at a path; `undefined` removes the value. Every other character stays, comments
 * included. Removing what was added gives the first text back: objects that become empty go as well, unless they mean something by
 * themselves or a comment says what they are for.
 * @throws DocumentError when the text cannot be parsed, or has something else on the path
 */
export function editText(text: string, path: ConfigPath, value: unknown): string {
  const { mark, body } = splitByteOrderMark(text);
  return mark + (value === undefined ? remove(body, path) : set(body, path, value as Value));
}

/** Returns the value that a text has at a path; undefined when it has none, or cannot be parsed. */
export function valueInText(text: string, path: ConfigPath): unknown {
  try {
    return valueAt(orderedJsonc.read(splitByteOrderMark(text).body), path);
  } catch (error) {
    if (error instanceof DocumentError) return undefined;
    throw error;
  }
}

function set(text: string, path: ConfigPath, value: Value): string {
  const top = orderedJsonc.read(text);
  const depth = path.findLastIndex((_, index) => valueAt(top, path.slice(0, index + 1)) !== undefined) + 1;
  const [at, next] = [path.slice(0, depth), path[depth]];
  const found = valueAt(top, at);
  const missing = path.slice(depth + 1).reduceRight<Value>(wrap, value);
  if (next === undefined) return checked(text, orderedJsonc.replace(text, at, value), at, value);
  if (found === null)
    return checked(text, orderedJsonc.replace(text, at, wrap(missing, next)), at, wrap(missing, next));
  if (Array.isArray(found) && next === found.length)
    return checked(text, orderedJsonc.append(text, at, missing), [...at, next], missing);
  if (!isObject(found) || typeof next !== "string")
    throw new DocumentError(`${formatConfigPath(at)} has no ${formatConfigPath([next])}`, null);
  return checked(text, orderedJsonc.add(text, at, next, missing), [...at, next], missing);
}

function wrap(value: Value, step: string | number): Value {
  return typeof step === "number" ? [value] : { [step]: value };
}

/** Returns the text after an edit, which must have changed nothing else. */
function checked(
  text: string,
  edit: Parameters<typeof applyEdit>[1],
  path: ConfigPath,
  value: Value,
): string {
  const after = applyEdit(text, edit);
  requireOnly(text, after, path, value);
  return after;
}

function remove(text: string, path: ConfigPath): string {
  if (valueAt(orderedJsonc.read(text), path) === undefined) return text;
  const after = orderedJsonc.remove(text, path);
  requireOnly(text, after, path, undefined);
  const above = path.slice(0, -1);
  return isLeftOver(after, above) ? remove(after, above) : after;
}

function requireOnly(before: string, after: string, path: ConfigPath, value: unknown): void {
  if (isEqual(orderedJsonc.read(after), withValue(orderedJsonc.read(before), path, value))) return;
  throw new DocumentError(
    `${formatConfigPath(path)} cannot be changed without changing something else`,
    null,
  );
}

/** The objects of these have one for each name that people choose, and no meaning without a member. */
const NAMED = ["tools", "keys", "projects"];

/** True for an object or a list that is empty and says nothing, unless it is a section that a comment is about. */
function isLeftOver(text: string, path: ConfigPath): boolean {
  const [section, ...below] = path;
  if (section === undefined) return false;
  const value = valueAt(orderedJsonc.read(text), path);
  const isNamed = below.length === 1 && NAMED.includes(String(section));
  const fallback = isNamed ? {} : findSetting(path)?.["default"];
  if (!isEmpty(value) || !isEmpty(fallback)) return false;
  const { offset, length } = orderedJsonc.find(text, path);
  const isBlank = !/\S/.test(text.slice(offset + 1, offset + length - 1));
  return isBlank && !(below.length === 0 && hasComment(text, offset, offset + length));
}

/** True where a comment on the line before a section, or behind it on its last line, says what the section is for. */
function hasComment(text: string, start: number, end: number): boolean {
  const linesBefore = text.slice(0, text.lastIndexOf("\n", start) + 1).split("\n");
  const lineAfter = /[^\n]*/.exec(text.slice(end))?.[0] ?? "";
  return /^\s*(?:\/\/|\/?\*)/.test(linesBefore.at(-2) ?? "") || /\/[/*]/.test(lineAfter);
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
