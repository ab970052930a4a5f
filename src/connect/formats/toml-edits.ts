import type { AST } from "toml-eslint-parser";
import type { Value } from "../../tools/setting.ts";
import { DocumentError, type ResolvedPath } from "./format-editor.ts";
import {
  detectLineEnding,
  type Edit,
  findGapStart,
  findLineEnd,
  findLineStart,
  readIndent,
  removeSpans,
  type Span,
} from "./text-edits.ts";
import { printMember } from "./toml-print.ts";
import type { TomlTree } from "./toml-tree.ts";

/** Appends tables to the text, after a blank line. */
export function appendBlock(text: string, lines: readonly string[]): Edit {
  const lineEnding = detectLineEnding(text);
  const isTerminated = text === "" || text.endsWith("\n");
  const gap = text.trim() === "" ? "" : lineEnding;
  const block = (isTerminated ? gap : lineEnding + gap) + lines.join(lineEnding);
  return { offset: text.length, length: 0, text: isTerminated ? block + lineEnding : block };
}

/** Adds a line to the end of a table. */
export function addToTable(text: string, table: AST.TOMLTable, line: string): Edit {
  const last = table.body.at(-1);
  return addLineAfter(text, last ?? table.key, line);
}

/** Adds a top-level line, after the existing ones or before the first header: below that it would belong to the table. */
export function addRootKey(text: string, { lines, tables }: TomlTree, line: string): Edit {
  const last = lines.findLast(({ tablePath }) => tablePath.length === 0);
  if (last !== undefined) return addLineAfter(text, last.node, line);
  const lineEnding = detectLineEnding(text);
  const [first] = tables;
  if (first !== undefined)
    return {
      offset: findCommentStart(text, first.range[0]),
      length: 0,
      text: line + lineEnding + lineEnding,
    };
  const isTerminated = text === "" || text.endsWith("\n");
  return { offset: text.length, length: 0, text: isTerminated ? line + lineEnding : lineEnding + line };
}

/** Adds a line next to one that defines the table at `path` with a dotted key, with the same key prefix. */
export function addToDotted(
  text: string,
  line: AST.TOMLKeyValue,
  path: ResolvedPath,
  name: string,
  value: Value,
): Edit {
  const own = line.key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
  const isInTable = line.parent.type === "TOMLTable" ? line.parent.resolvedKey.length : 0;
  return addLineAfter(text, line, printMember([...own.slice(0, path.length - isInTable), name], value));
}

/** Adds a member to an inline table, or an item to a list. */
export function addInline(node: AST.TOMLContentNode, printed: string): Edit {
  if (node.type === "TOMLValue") throw new DocumentError("this is a single value", node.range[0]);
  const last = node.type === "TOMLArray" ? node.elements.at(-1) : node.body.at(-1);
  if (last !== undefined) return { offset: last.range[1], length: 0, text: `, ${printed}` };
  const isArray = node.type === "TOMLArray";
  return { offset: node.range[0] + 1, length: 0, text: isArray ? printed : ` ${printed} ` };
}

/** Returns the text without these headers and lines. Comments around them stay. */
export function removeEntries(text: string, entries: readonly (AST.TOMLTable | AST.TOMLKeyValue)[]): string {
  return removeSpans(
    text,
    entries.map((entry) => {
      if (entry.type === "TOMLKeyValue") return spanLines(text, entry.range[0], entry.range[1]);
      const header = spanLines(text, entry.range[0], findHeaderEnd(text, entry));
      // Takes the blank line above the header along if one follows, too.
      const blank = /(?:\r?\n)$/.exec(text.slice(0, header.offset));
      const more =
        text.startsWith("\n", header.offset) || text.startsWith("\r\n", header.offset)
          ? (blank?.[0].length ?? 0)
          : 0;
      return { offset: header.offset - more, length: header.length + more };
    }),
  );
}

/** Returns the text without a member of an inline table or an item of a list, and without one comma. */
export function removeInline(text: string, entry: AST.TOMLKeyValue | AST.TOMLContentNode): string {
  const siblings = siblingsOf(entry);
  const at = siblings.indexOf(entry);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const [start, end] = entry.range;
  if (after !== undefined) return removeSpans(text, [{ offset: start, length: after.range[0] - start }]);
  if (before !== undefined)
    return removeSpans(text, [{ offset: before.range[1], length: end - before.range[1] }]);
  const leading = /[ \t]*$/.exec(text.slice(0, start))?.index ?? start;
  const trailing = /[ \t]*,?[ \t]*/y;
  trailing.lastIndex = end;
  trailing.test(text);
  return removeSpans(text, [{ offset: leading, length: trailing.lastIndex - leading }]);
}

function siblingsOf(
  entry: AST.TOMLKeyValue | AST.TOMLContentNode,
): readonly (AST.TOMLKeyValue | AST.TOMLContentNode)[] {
  const { parent } = entry;
  if (parent.type === "TOMLArray") return parent.elements;
  return parent.type === "TOMLInlineTable" ? parent.body : [entry];
}

function addLineAfter(text: string, { range }: { range: AST.TOMLKey["range"] }, line: string): Edit {
  const indent = readIndent(text, range[0]);
  return { offset: findLineEnd(text, range[1]), length: 0, text: detectLineEnding(text) + indent + line };
}

/** Includes the line ending before the range; for the first line of the text the one after it, and blank lines there. */
function spanLines(text: string, start: number, end: number): Span {
  const gap = findGapStart(text, start, end);
  if (gap > 0) return { offset: gap, length: end - gap };
  const trailing = /(?:[ \t]*\r?\n)*/y;
  trailing.lastIndex = end;
  trailing.test(text);
  return { offset: 0, length: trailing.lastIndex };
}

/** Returns the offset after the closing brackets of a table header. */
function findHeaderEnd(text: string, table: AST.TOMLTable): number {
  const close = /\s*\](?:\s*\])?/y;
  close.lastIndex = table.key.range[1];
  return close.test(text) ? close.lastIndex : table.key.range[1];
}

/** Returns the start of the line, or of the comment lines directly above it. */
function findCommentStart(text: string, offset: number): number {
  const start = findLineStart(text, offset);
  const comments = /(?:^|\n)((?:[ \t]*#[^\n]*\n)+)$/.exec(text.slice(0, start));
  return comments === null ? start : start - (comments[1] ?? "").length;
}
