import type { Value } from "../../tools/setting.ts";
import { DocumentError, type ResolvedPath } from "./format-editor.ts";
import {
  detectLineEnding,
  type Edit,
  findGapStart,
  findLineEnd,
  findLineStart,
  insertAt,
  isTerminated,
  readIndent,
  removeRange,
  removeSpans,
  skip,
  type Span,
} from "./text-edits.ts";
import { findTable, keyNames, startsWith, type AST, type TomlTree } from "./toml-library.ts";
import { printHeader, printMember } from "./toml-print.ts";

/** Appends tables to the text, after a blank line. */
export function appendBlock(text: string, lines: readonly string[]): Edit {
  return appendLines(text, text.trim() === "" ? lines : ["", ...lines]);
}

/** A text without a final line ending stays without one. */
function appendLines(text: string, lines: readonly string[]): Edit {
  const lineEnding = detectLineEnding(text);
  const added = lines.join(lineEnding);
  return insertAt(text.length, isTerminated(text) ? added + lineEnding : lineEnding + added);
}

/** Adds a member to the table at `path`: to its lines, or as a new table. */
export function addMember(
  text: string,
  tree: TomlTree,
  path: ResolvedPath,
  name: string,
  value: Value,
): Edit {
  const line = printMember([name], value);
  if (path.length === 0) return addRootKey(text, tree, line);
  const table = findTable(tree, path);
  if (table !== undefined) return addLineAfter(text, table.body.at(-1) ?? table.key, line);
  // A table above it may define this one with dotted keys.
  const dotted = tree.lines.findLast((one) => {
    return one.tablePath.length < path.length && startsWith(one.path, path);
  });
  if (dotted === undefined) return appendBlock(text, [printHeader(path.map(String)), line]);
  const prefix = keyNames(dotted.node.key).slice(0, path.length - dotted.tablePath.length);
  return addLineAfter(text, dotted.node, printMember([...prefix, name], value));
}

/** Adds a top-level line after the existing ones, or before the first header: below that it would belong to the table. */
function addRootKey(text: string, { lines, tables }: TomlTree, line: string): Edit {
  const last = lines.findLast(({ tablePath }) => tablePath.length === 0);
  if (last !== undefined) return addLineAfter(text, last.node, line);
  const [first] = tables;
  if (first === undefined) return appendLines(text, [line]);
  return insertAt(findCommentStart(text, first.range[0]), line + detectLineEnding(text).repeat(2));
}

/** Adds a member to an inline table, or an item to a list. */
export function addInline(node: AST.TOMLContentNode, printed: string): Edit {
  if (node.type === "TOMLValue") throw new DocumentError("this is a single value", node.range[0]);
  const isArray = node.type === "TOMLArray";
  const last = isArray ? node.elements.at(-1) : node.body.at(-1);
  if (last !== undefined) return insertAt(last.range[1], `, ${printed}`);
  return insertAt(node.range[0] + 1, isArray ? printed : ` ${printed} `);
}

/** Returns the text without these headers and lines. Comments around them stay. */
export function removeEntries(text: string, entries: readonly (AST.TOMLTable | AST.TOMLKeyValue)[]): string {
  const spans = entries.map((entry) => {
    const [start, end] = entry.range;
    return entry.type === "TOMLKeyValue" ? spanLines(text, start, end) : spanHeader(text, entry);
  });
  return removeSpans(text, spans);
}

/** Includes the line ending before the header, and the blank line above it. */
function spanHeader(text: string, { key, range }: AST.TOMLTable): Span {
  const { offset, length } = spanLines(text, range[0], skip(text, key.range[1], /\s*\](?:\s*\])?/y));
  const isAfterLine = skip(text, offset, /\r?\n/y) > offset;
  const blank = isAfterLine ? (/\r?\n$/.exec(text.slice(0, offset))?.[0].length ?? 0) : 0;
  return { offset: offset - blank, length: length + blank };
}

/** Returns the text without a member of an inline table or an item of a list, and without one comma. */
export function removeInline(text: string, entry: AST.TOMLKeyValue | AST.TOMLContentNode): string {
  const siblings = siblingsOf(entry);
  const at = siblings.indexOf(entry);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const [start, end] = entry.range;
  if (after !== undefined) return removeRange(text, start, after.range[0]);
  if (before !== undefined) return removeRange(text, before.range[1], end);
  const leading = /[ \t]*$/.exec(text.slice(0, start))?.index ?? start;
  return removeRange(text, leading, skip(text, end, /[ \t]*,?[ \t]*/y));
}

function siblingsOf({
  parent,
}: AST.TOMLKeyValue | AST.TOMLContentNode): readonly (AST.TOMLKeyValue | AST.TOMLContentNode)[] {
  if (parent.type === "TOMLArray") return parent.elements;
  return parent.type === "TOMLInlineTable" ? parent.body : [];
}

function addLineAfter(text: string, { range }: { range: AST.TOMLKey["range"] }, line: string): Edit {
  const indent = readIndent(text, range[0]);
  return insertAt(findLineEnd(text, range[1]), detectLineEnding(text) + indent + line);
}

/** Includes the line ending before the range or, in the first line of the text, the one after it and blank lines. */
function spanLines(text: string, start: number, end: number): Span {
  const gap = findGapStart(text, start, end);
  if (gap > 0) return { offset: gap, length: end - gap };
  return { offset: 0, length: skip(text, end, /(?:[ \t]*\r?\n)*/y) };
}

/** Returns the start of the line, or of the comment lines directly above it. */
function findCommentStart(text: string, offset: number): number {
  const start = findLineStart(text, offset);
  const comments = /(?:^|\n)((?:[ \t]*#[^\n]*\n)+)$/.exec(text.slice(0, start));
  return start - (comments?.[1] ?? "").length;
}
