import { findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { DocumentError, type ResolvedPath } from "./format-editor.ts";

export type { Node } from "jsonc-parser";

/** Returns the root node; undefined for a text without a value. Accepts comments and trailing commas. */
export function parseText(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const top = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first !== undefined) throw new DocumentError(describe(first), first.offset);
  if (top !== undefined && top.type !== "object")
    throw new DocumentError("the top is not an object", top.offset);
  if (top !== undefined) rejectDuplicateKeys(top);
  return top;
}

export function findNode(text: string, path: ResolvedPath): Node {
  const top = parseText(text);
  const node = top && findNodeAtLocation(top, [...path]);
  if (node === undefined) throw new DocumentError("there is no such setting", null);
  return node;
}

/** Returns the plain data of a node. */
export function toValue(node: Node): unknown {
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

/** Parsers disagree on which of two equal keys wins. */
function rejectDuplicateKeys(node: Node): void {
  const seen = new Set<string>();
  for (const child of node.children ?? []) {
    if (node.type === "object") {
      const name = keyOf(child);
      if (seen.has(name)) throw new DocumentError(`${JSON.stringify(name)} is defined twice`, child.offset);
      seen.add(name);
    }
    rejectDuplicateKeys(child);
  }
}

function keyOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

/** `CommaExpected` → "not JSON: comma expected". */
function describe({ error }: ParseError): string {
  const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
  return `not JSON: ${words.toLowerCase()}`;
}
