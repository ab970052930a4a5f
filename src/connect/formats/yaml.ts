import type { Value } from "../../tools/setting.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "./format-editor.ts";
import { detectLineEnding, type Edit, findLineEnd, insertAt, isTerminated } from "./text-edits.ts";
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseText,
  readYaml,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
  stringify,
} from "./yaml-library.ts";
import { columnAt, findEnd, rangeOf, removeEntry, trimLineEnd } from "./yaml-spans.ts";

/** YAML 1.2 (https://yaml.org/spec/1.2.2/), one document per file; a document that declares version 1.1 is read as 1.1. */
export const yaml: FormatEditor = {
  read: readYaml,
  find(text, path) {
    const node = findNode(parseText(text), path);
    const [offset] = rangeOf(node);
    return { offset, length: trimLineEnd(text, findEnd(node)) - offset };
  },
  replace(text, path, value) {
    const document = parseText(text);
    const node = findNode(document, path);
    const [offset] = rangeOf(node);
    if (isEmpty(node)) return fillEmpty(text, locateKey(text, document, path), value);
    const isPlain = isScalar(node) && typeof value !== "object";
    const printed = isPlain ? printScalar(value, node.type) : printFlow(value);
    const end = trimLineEnd(text, findEnd(node));
    const isBlock = isCollection(node) && node.flow !== true && typeof path.at(-1) === "string";
    if (!isBlock) return { offset, length: end - offset, text: printed };
    // A block on its own lines may be indented less than a scalar in its place must be.
    const start = locateKey(text, document, path).offset;
    return { offset: start, length: end - start, text: ` ${printed}` };
  },
  add(text, path, name, value) {
    const document = parseText(text);
    if (path.length === 0 && document.contents === null) return createTop(text, { [name]: value });
    const map = findNode(document, path);
    rejectAlias(map);
    if (!isMap(map))
      throw new DocumentError("this is not a map to which a member can be added", rangeOf(map)[0]);
    if (map.flow === true) return addToFlow(map, `${printScalar(name)}: ${printFlow(value)}`);
    return addToBlock(text, map, printBlock(text, { [name]: value }));
  },
  append(text, path, value) {
    const document = parseText(text);
    if (path.length === 0 && document.contents === null) return createTop(text, [value]);
    const list = findNode(document, path);
    rejectAlias(list);
    if (!isSeq(list))
      throw new DocumentError("this is not a list to which an item can be added", rangeOf(list)[0]);
    return list.flow === true
      ? addToFlow(list, printFlow(value))
      : addToBlock(text, list, printBlock(text, [value]));
  },
  remove(text, path) {
    const document = parseText(text);
    const container = findNode(document, path.slice(0, -1));
    const entry = findEntry(container, path.at(-1));
    if (!isCollection(container) || entry === null) throw new DocumentError("there is no such setting", null);
    return removeEntry(text, container, entry);
  },
};

function findNode(document: Document, path: ResolvedPath): Node {
  let node: Node | null = document.contents;
  for (const step of path) {
    const entry = node === null ? null : findEntry(node, step);
    node = isNode(entry) ? entry : ((entry?.value ?? null) as Node | null);
  }
  if (node === null) throw new DocumentError("there is no such setting", null);
  return node;
}

function findEntry(node: Node, step: string | number | undefined): Pair | Node | null {
  rejectAlias(node);
  if (isSeq(node))
    return (typeof step === "number" ? (node.items[step] as Node | undefined) : undefined) ?? null;
  if (!isMap(node)) return null;
  return node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === step) ?? null;
}

/** A change to an alias would change its anchor as well. */
function rejectAlias(node: Node): void {
  if (isAlias(node))
    throw new DocumentError("this is an alias of a value defined elsewhere", rangeOf(node)[0]);
}

/** True for the value of `name:` with nothing after it. */
function isEmpty(node: Node): boolean {
  const [start, end] = rangeOf(node);
  return isScalar(node) && start === end;
}

/** Returns the offset after a key's colon, and the key's column. */
function locateKey(text: string, document: Document, path: ResolvedPath): { offset: number; column: number } {
  const entry = findEntry(findNode(document, path.slice(0, -1)), path.at(-1));
  if (!isPair(entry)) throw new DocumentError("this item is empty", null);
  const [start, end] = rangeOf(entry.key as Node);
  return { offset: text.indexOf(":", end) + 1, column: columnAt(text, start) };
}

/** Puts a value after a colon, or on lines of its own. */
function fillEmpty(
  text: string,
  { offset, column }: { offset: number; column: number },
  value: Value | null,
): Edit {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    return insertAt(offset, ` ${printFlow(value)}`);
  }
  const indent = " ".repeat(column + 2);
  const lines = printBlock(text, value).map((line) => detectLineEnding(text) + indent + line);
  return insertAt(findLineEnd(text, offset), lines.join(""));
}

function createTop(text: string, value: Value): Edit {
  const lineEnding = detectLineEnding(text);
  const printed = printBlock(text, value).join(lineEnding) + lineEnding;
  return insertAt(text.length, isTerminated(text) ? printed : lineEnding + printed);
}

function addToFlow(container: YAMLMap | YAMLSeq, printed: string): Edit {
  const last = container.items.at(-1);
  if (last === undefined) return insertAt(rangeOf(container)[0] + 1, printed);
  return insertAt(findEnd(last as Pair | Node), `, ${printed}`);
}

/** Adds lines below the last entry, indented like the first. */
function addToBlock(text: string, container: YAMLMap | YAMLSeq, lines: readonly string[]): Edit {
  const lineEnding = detectLineEnding(text);
  const indent = " ".repeat(columnAt(text, rangeOf(container)[0]));
  const entry = lines.map((line) => (line === "" ? "" : indent + line)).join(lineEnding);
  const end = findEnd(container);
  // A block scalar ends at the start of the next line.
  if (text[end - 1] === "\n") return insertAt(end, entry + lineEnding);
  return insertAt(findLineEnd(text, end), lineEnding + entry);
}

/** Returns the lines of a map or list in block style, which a YAML 1.1 parser reads the same way. */
function printBlock(text: string, value: Value): string[] {
  const indents = [...text.matchAll(/^( {2,8})[^\s#]/gm)].map(([, spaces = ""]) => spaces.length);
  const indent = Math.min(...indents, indents.length === 0 ? 2 : 8);
  return stringify(value, { lineWidth: 0, indent, compat: "yaml-1.1" }).trimEnd().split("\n");
}

/** Prints a value on one line as JSON, which every YAML parser accepts (YAML 1.2.2 section 1.2). */
function printFlow(value: Value | null): string {
  if (typeof value !== "object" || value === null) return printScalar(value);
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(printFlow).join(", ")}]`;
  const members = Object.entries(value).map(([name, below]) => `${printScalar(name)}: ${printFlow(below)}`);
  return `{${members.join(", ")}}`;
}

/**
 * Prints a scalar; unquoted only where no parser could take it for another type.
 * @param style the `type` of the scalar that it replaces
 */
function printScalar(value: Value | null, style?: string): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isQuoted = style === "QUOTE_SINGLE" || style === "QUOTE_DOUBLE";
  const plain = style === "PLAIN" ? /^[A-Za-z](?:[\w./-]|:(?=[\w/]))*$/ : /^[A-Za-z][\w.-]*$/;
  if (!isQuoted && plain.test(value) && !RESERVED.test(value)) return value;
  if (style === "QUOTE_SINGLE" && /^[^\p{Cc}]*$/u.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value);
}

/** Words that a YAML 1.1 (https://yaml.org/type/bool.html) or 1.2 parser does not read as strings. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
