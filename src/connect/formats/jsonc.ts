import { findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import type { Value } from "../../tools/setting.ts";
import { addToContainer, removeEntry } from "./jsonc-edits.ts";
import { DocumentError, type FormatEditor, type ResolvedPath } from "./format-editor.ts";
import { detectLineEnding, indentFollowingLines, readIndent } from "./text-edits.ts";
import { printMember, printLike } from "./jsonc-print.ts";

/**
 * Accepts JSON with comments and trailing commas. Writes strict JSON (RFC 8259), so that a file whose tool parses it
 * strictly stays valid.
 */
export const jsonc: FormatEditor = {
  read(text) {
    const top = parseText(text);
    return top === undefined ? {} : (toValue(top) as Record<string, unknown>);
  },
  find(text, path) {
    const { offset, length } = findNode(text, path);
    return { offset, length };
  },
  replace(text, path, value) {
    const node = findNode(text, path);
    const printed = printLike(text, node, value);
    const { offset, length } = node;
    return {
      offset,
      length,
      text: indentFollowingLines(printed, readIndent(text, offset), detectLineEnding(text)),
    };
  },
  add(text, path, name, value) {
    if (parseText(text) === undefined) return createTopObject(text, name, value);
    const container = findNode(text, path);
    return addToContainer(text, container, printMember(text, name, printLike(text, container, value)));
  },
  append(text, path, value) {
    const container = findNode(text, path);
    return addToContainer(text, container, printLike(text, container, value));
  },
  remove(text, path) {
    const node = findNode(text, path);
    const entry = node.parent?.type === "property" ? node.parent : node;
    return removeEntry(text, entry);
  },
};

/** Adds the first object to a text that is empty or holds only comments. */
function createTopObject(text: string, name: string, value: Value) {
  const lineEnding = detectLineEnding(text);
  const printed = JSON.stringify({ [name]: value }, null, 2).replaceAll("\n", lineEnding);
  const before = /[^\s]\s*$/.test(text) && !text.endsWith("\n") ? lineEnding : "";
  return { offset: text.length, length: 0, text: `${before}${printed}${lineEnding}` };
}

/** Returns the root node; undefined for a text without a value. */
function parseText(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const top = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) throw new DocumentError(describe(first), first.offset);
  if (top !== undefined && top.type !== "object")
    throw new DocumentError("the top is not an object", top.offset);
  if (top !== undefined) rejectDuplicateKeys(top);
  return top;
}

/** `CommaExpected` → "not JSON: comma expected". */
function describe({ error }: ParseError): string {
  const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
  return `not JSON: ${words.toLowerCase()}`;
}

/** Parsers disagree on which of two equal keys wins. */
function rejectDuplicateKeys(node: Node): void {
  const seen = new Set<string>();
  for (const child of node.children ?? []) {
    if (node.type === "object") {
      const name = keyOf(child);
      if (seen.has(name)) throw new DocumentError(`${JSON.stringify(name)} is there twice`, child.offset);
      seen.add(name);
    }
    rejectDuplicateKeys(child);
  }
}

function findNode(text: string, path: ResolvedPath): Node {
  const top = parseText(text);
  const node = top && findNodeAtLocation(top, [...path]);
  if (node === undefined) throw new DocumentError("there is no such setting", null);
  return node;
}

function toValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(toValue);
  if (node.type !== "object") return node.value;
  // fromEntries defines properties; an assignment would call the setter of `__proto__`.
  return Object.fromEntries(
    (node.children ?? []).map((property) => [
      keyOf(property),
      property.children?.[1] && toValue(property.children[1]),
    ]),
  );
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}
