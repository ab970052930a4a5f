import { findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { writePath } from "../../core/config/problem.ts";
import type { Fault, Problem } from "../../core/config/problem.ts";

/** A JSONC text, read as far as it can be. */
export interface Jsonc {
  /** Fresh plain objects; a key such as `__proto__` is an own property like any other. */
  value: unknown;
  /** What is wrong with the text itself: its syntax, and keys that are written twice. */
  problems: Problem[];
  /**
   * Gives a fault its line; a fault of something missing gets the line of what it is missing in. Null where a
   * syntax error came first, so that the fault may be nothing but its consequence.
   */
  place(fault: Fault): Problem | null;
}

/** Reads JSON with comments and trailing commas. Never throws on any text that fits the stack. */
export function readJsonc(text: string): Jsonc {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;
  if (tree === undefined && errors.length === 0) {
    const message = "the file is empty; write at least {}";
    return { value: undefined, problems: [{ path: "", line: null, message }], place: () => null };
  }
  const sound = Math.min(text.length, ...errors.map(({ offset }) => offset));
  return {
    value: tree === undefined ? undefined : valueOf(tree),
    problems: [...describeErrors(errors, lineOf), ...findRepeated(tree, [], lineOf)],
    place({ path, message }) {
      const node = nodeNear(tree, path);
      if (node === undefined || node.offset + node.length > sound) return null;
      return { path: writePath(path), line: lineOf(startOf(node)), message };
    },
  };
}

/** Of two like keys the first is kept, which is the one whose line the parser's own look-up finds. */
function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  const entries = new Map<string, unknown>();
  for (const { key, value } of propertiesOf(node)) {
    if (!entries.has(key)) entries.set(key, value && valueOf(value));
  }
  // Defines properties, where an assignment would call the setter of `__proto__`.
  return Object.fromEntries(entries);
}

function propertiesOf(node: Node): { key: string; value: Node | undefined; offset: number }[] {
  return (node.children ?? []).map(({ children, offset }) => ({
    key: String(children?.[0]?.value),
    value: children?.[1],
    offset,
  }));
}

/** JSON readers keep one of two like keys; the person who wrote the other would never know. */
function findRepeated(
  node: Node | undefined,
  path: Fault["path"],
  lineOf: (offset: number) => number,
): Problem[] {
  if (node?.type === "array") {
    return (node.children ?? []).flatMap((item, index) => findRepeated(item, [...path, index], lineOf));
  }
  if (node?.type !== "object") return [];
  const seen = new Set<string>();
  return propertiesOf(node).flatMap(({ key, value, offset }) => {
    const here = [...path, key];
    const below = findRepeated(value, here, lineOf);
    if (seen.has(key))
      below.unshift({ path: writePath(here), line: lineOf(offset), message: "is there twice" });
    seen.add(key);
    return below;
  });
}

function nodeNear(tree: Node | undefined, path: Fault["path"]): Node | undefined {
  if (tree === undefined) return undefined;
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, path.slice(0, length));
    if (node !== undefined) return node;
  }
  return tree;
}

/** Where a person looks for the value: at its key. */
function startOf(node: Node): number {
  return node.parent?.type === "property" ? node.parent.offset : node.offset;
}

/** One error per line: the others are mostly its consequences. */
function describeErrors(errors: readonly ParseError[], lineOf: (offset: number) => number): Problem[] {
  const byLine = new Map<number, Problem>();
  for (const { error, offset } of errors) {
    const line = lineOf(offset);
    const name = printParseErrorCode(error);
    const message = SYNTAX[name] ?? `not JSON (${name})`;
    if (!byLine.has(line)) byLine.set(line, { path: "", line, message });
  }
  return [...byLine.values()];
}

/** The parser's error names in words. */
const SYNTAX: Record<string, string> = {
  InvalidSymbol: "not JSON; strings and keys stand in double quotes",
  InvalidNumberFormat: "not a number as JSON writes it",
  PropertyNameExpected: "a key in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: 'a ":" is missing between key and value',
  CommaExpected: 'a "," is missing before this',
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: "nothing may follow the last brace",
  InvalidCommentToken: "comments are not allowed here",
  UnexpectedEndOfComment: "the comment is not closed",
  UnexpectedEndOfString: "the string is not closed",
  UnexpectedEndOfNumber: "the number is not finished",
  InvalidUnicode: "not a Unicode escape",
  InvalidEscapeCharacter: "not an escape that JSON knows",
  InvalidCharacter: "control characters in strings must be escaped",
};
