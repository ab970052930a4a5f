import { findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import type { Value } from "../../tools/setting.ts";
import { addToContainer, removeFromContainer } from "./jsonc-edits.ts";
import { indentAt, indentRest, lineEndOf, TextFault } from "./language.ts";
import type { Language, Path } from "./language.ts";
import { memberOf, printFor } from "./jsonc-print.ts";

/**
 * JSON, with comments and trailing commas where the file has them. What is written is JSON as RFC 8259 has it: no comment,
 * no trailing comma, so that a file which its tool reads strictly stays one.
 */
export const jsonc: Language = {
  read(text) {
    const top = parseText(text);
    return top === undefined ? {} : (valueOf(top) as Record<string, unknown>);
  },
  find(text, path) {
    const { offset, length } = nodeAt(text, path);
    return { offset, length };
  },
  replace(text, path, value) {
    const node = nodeAt(text, path);
    const printed = printFor(text, node, value);
    const { offset, length } = node;
    return { offset, length, text: indentRest(printed, indentAt(text, offset), lineEndOf(text)) };
  },
  add(text, path, name, value) {
    if (parseText(text) === undefined) return createObject(text, name, value);
    const container = nodeAt(text, path);
    return addToContainer(text, container, memberOf(text, name, printFor(text, container, value)));
  },
  append(text, path, value) {
    const container = nodeAt(text, path);
    return addToContainer(text, container, printFor(text, container, value));
  },
  remove(text, path) {
    const node = nodeAt(text, path);
    const entry = node.parent?.type === "property" ? node.parent : node;
    return removeFromContainer(text, entry);
  },
};

/** An empty text, or one of comments only, gets its first object. */
function createObject(text: string, name: string, value: Value) {
  const lineEnd = lineEndOf(text);
  const printed = JSON.stringify({ [name]: value }, null, 2).replaceAll("\n", lineEnd);
  const before = /[^\s]\s*$/.test(text) && !text.endsWith("\n") ? lineEnd : "";
  return { offset: text.length, length: 0, text: `${before}${printed}${lineEnd}` };
}

/** The top of the text; undefined where there is nothing in it. */
function parseText(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const top = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) throw new TextFault(describe(first), first.offset);
  if (top !== undefined && top.type !== "object") throw new TextFault("the top is not an object", top.offset);
  if (top !== undefined) refuseRepeated(top);
  return top;
}

/** `CommaExpected` → "not JSON: comma expected". */
function describe({ error }: ParseError): string {
  const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
  return `not JSON: ${words.toLowerCase()}`;
}

/** Readers keep one of two like keys, and not all of them the same one. */
function refuseRepeated(node: Node): void {
  const seen = new Set<string>();
  for (const child of node.children ?? []) {
    if (node.type === "object") {
      const name = nameOf(child);
      if (seen.has(name)) throw new TextFault(`${JSON.stringify(name)} is there twice`, child.offset);
      seen.add(name);
    }
    refuseRepeated(child);
  }
}

function nodeAt(text: string, path: Path): Node {
  const top = parseText(text);
  const node = top && findNodeAtLocation(top, [...path]);
  if (node === undefined) throw new TextFault("there is no such setting", null);
  return node;
}

function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  // Defines properties, where an assignment would call the setter of `__proto__`.
  return Object.fromEntries(
    (node.children ?? []).map((property) => [
      nameOf(property),
      property.children?.[1] && valueOf(property.children[1]),
    ]),
  );
}

function nameOf(property: Node): string {
  return String(property.children?.[0]?.value);
}
