import { createScanner, findNodeAtLocation, parseTree, printParseErrorCode } from "jsonc-parser";
import type { Node, ParseError } from "jsonc-parser";
import { formatConfigPath, sanitizeText } from "../../core/config/problem.ts";
import type { Issue, Problem } from "../../core/config/problem.ts";

/** No more problems of one kind are collected: people correct these before they read further. */
export const MAX_PROBLEMS = 50;

/** Far more than anyone writes: a thousand upstreams have some 20 000. Checking more would block the daemon's requests. */
const MAX_TOKENS = 50_000;

/** Several times as deep as a configuration is. The parser recurses. */
const MAX_DEPTH = 50;

const TOO_MUCH = "the file is too long or too deeply nested for a configuration; the rest is not checked";

/** A parsed JSONC text. */
export interface Jsonc {
  /** Plain objects, as far as the text could be parsed. A key such as `__proto__` is an own property like any other. */
  value: unknown;
  /** Syntax errors, duplicate keys, and where checking ended, if that is before the end. */
  problems: Problem[];
  /**
   * Turns an issue into a problem with a line. For something missing, that is the line of the object it is missing in.
   * Returns null when a syntax error precedes the issue, which may then be a mere consequence.
   */
  locate(issue: Issue): Problem | null;
}

/** Parses JSON with comments and trailing commas, up to {@link MAX_TOKENS} and {@link MAX_DEPTH}. */
export function readJsonc(text: string): Jsonc {
  const end = findExcess(text);
  const { tree, errors } = parseUpTo(text, end);
  const lineOf = createLineIndex(text);
  if (tree === undefined && errors.length === 0) {
    const message = "the file is empty; write at least {}";
    return { value: undefined, problems: [{ path: "", line: null, message }], locate: () => null };
  }
  const isCut = end < text.length;
  const excess = isCut ? [{ path: "", line: lineOf(end), message: TOO_MUCH }] : [];
  // A value that reaches the cut has lost a part.
  const validEnd = errors.reduce((least, { offset }) => Math.min(least, offset), isCut ? end - 1 : end);
  return {
    value: tree === undefined ? undefined : valueOf(tree),
    problems: [...describeErrors(text, errors, lineOf), ...findDuplicates(tree, lineOf), ...excess],
    locate({ path, message, hint }) {
      const node = nearestNode(tree, path);
      if (node === undefined || node.offset + node.length > validEnd) return null;
      return {
        path: formatConfigPath(path),
        line: lineOf(startOf(node)),
        message,
        ...(hint !== undefined && { hint }),
      };
    },
  };
}

/** Returns where the text has too many tokens, or is nested too deeply; its length when nowhere. */
function findExcess(text: string): number {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let tokens = 0; ; tokens += 1) {
    scanner.scan();
    const at = scanner.getTokenOffset();
    const first = text[at];
    if (first === "{" || first === "[") depth += 1;
    if (first === "}" || first === "]") depth -= 1;
    if (first === undefined || tokens === MAX_TOKENS || depth > MAX_DEPTH) return at;
  }
}

/** Parses the part of the text before `end`. Leaves out errors at its end, which are about what was cut off. */
function parseUpTo(text: string, end: number): { tree: Node | undefined; errors: ParseError[] } {
  const errors: ParseError[] = [];
  const tree = parseTree(text.slice(0, end), errors, { allowTrailingComma: true, allowEmptyContent: true });
  return { tree, errors: end < text.length ? errors.filter(({ offset }) => offset < end) : errors };
}

/** Returns a function that maps an offset in the text to its line, counted from 1. */
function createLineIndex(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** Keeps the first of duplicate keys, as jsonc-parser's `findNodeAtLocation` does, so that value and line match. */
function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  const entries = new Map<string, unknown>();
  for (const { key, value } of propertiesOf(node)) {
    if (!entries.has(key)) entries.set(key, value && valueOf(value));
  }
  // `fromEntries` defines properties. An assignment would call the setter of `__proto__`.
  return Object.fromEntries(entries);
}

function propertiesOf(node: Node): { key: string; value: Node | undefined; offset: number }[] {
  return (node.children ?? []).map(({ children, offset }) => ({
    key: String(children?.[0]?.value),
    value: children?.[1],
    offset,
  }));
}

/** Reports duplicate keys, as one of their values would be ignored without notice. */
function findDuplicates(tree: Node | undefined, lineOf: (offset: number) => number): Problem[] {
  const found: Problem[] = [];
  const visit = (node: Node | undefined, path: Issue["path"]): void => {
    if (node?.type === "array") node.children?.forEach((item, index) => visit(item, [...path, index]));
    if (node?.type !== "object") return;
    const seen = new Set<string>();
    for (const { key, value, offset } of propertiesOf(node)) {
      if (found.length >= MAX_PROBLEMS) return;
      const here = [...path, key];
      if (seen.has(key))
        found.push({ path: formatConfigPath(here), line: lineOf(offset), message: "is defined twice" });
      seen.add(key);
      visit(value, here);
    }
  };
  visit(tree, []);
  return found;
}

function nearestNode(tree: Node | undefined, path: Issue["path"]): Node | undefined {
  if (tree === undefined) return undefined;
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, path.slice(0, length));
    if (node !== undefined) return node;
  }
  return tree;
}

/** Returns the offset of the value's key, where people look for it. */
function startOf(node: Node): number {
  return node.parent?.type === "property" ? node.parent.offset : node.offset;
}

/** Reports one error per line, since further ones on it are mostly consequences of the first. */
function describeErrors(
  text: string,
  errors: readonly ParseError[],
  lineOf: (offset: number) => number,
): Problem[] {
  const byLine = new Map<number, Problem>();
  for (const { error, offset, length } of errors) {
    if (byLine.size >= MAX_PROBLEMS) break;
    const line = lineOf(offset);
    const name = printParseErrorCode(error);
    const message =
      name === "CommaExpected"
        ? `a "," is missing before ${quoteKey(text, offset, length)}`
        : (SYNTAX_MESSAGES[name] ?? `not JSON (${name})`);
    if (!byLine.has(line)) byLine.set(line, { path: "", line, message });
  }
  return [...byLine.values()];
}

/** Longer than the keys of a configuration. */
const MAX_QUOTED = 40;

/** Quotes the token at an error if it is an object's key. A value may be an API key, and is not repeated. */
function quoteKey(text: string, offset: number, length: number): string {
  const isKey =
    length <= MAX_QUOTED && /^\s*:/.test(text.slice(offset + length, offset + length + MAX_QUOTED));
  return isKey ? sanitizeText(text.slice(offset, offset + length)) : "this";
}

/** Messages by the parser's name of the error. */
const SYNTAX_MESSAGES: Record<string, string> = {
  InvalidSymbol: "not JSON; strings and keys need double quotes",
  InvalidNumberFormat: "not a valid JSON number",
  PropertyNameExpected: "a key in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: 'a ":" is missing between key and value',
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: "unexpected text after the last brace",
  InvalidCommentToken: "comments are not allowed here",
  UnexpectedEndOfComment: "the comment is not closed",
  UnexpectedEndOfString: "the string is not closed",
  UnexpectedEndOfNumber: "the number is not finished",
  InvalidUnicode: "not a valid Unicode escape",
  InvalidEscapeCharacter: "not a valid JSON escape",
  InvalidCharacter: "control characters in strings must be escaped",
};
