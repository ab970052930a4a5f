import type { AST } from "toml-eslint-parser";
import type { Value } from "../../tools/setting.ts";
import { cutOut, endOfLine, indentAt, lineEndOf, startOfGap, startOfLine, TextFault } from "./language.ts";
import type { Edit, Path, Span } from "./language.ts";
import { printMember } from "./toml-print.ts";
import type { TomlTree } from "./toml-tree.ts";

/** Tables at the end of the text, with a blank line before them. */
export function appendBlock(text: string, lines: readonly string[]): Edit {
  const lineEnd = lineEndOf(text);
  const isEnded = text === "" || text.endsWith("\n");
  const gap = text.trim() === "" ? "" : lineEnd;
  const block = (isEnded ? gap : lineEnd + gap) + lines.join(lineEnd);
  return { offset: text.length, length: 0, text: isEnded ? block + lineEnd : block };
}

/** A line at the end of what stands under a header. */
export function addToTable(text: string, table: AST.TOMLTable, line: string): Edit {
  const last = table.body.at(-1);
  return addLineBehind(text, last ?? table.key, line);
}

/** A line at the top level: behind the others, or before the first header, where it would belong to that table. */
export function addRootKey(text: string, { lines, tables }: TomlTree, line: string): Edit {
  const last = lines.findLast(({ tablePath }) => tablePath.length === 0);
  if (last !== undefined) return addLineBehind(text, last.node, line);
  const lineEnd = lineEndOf(text);
  const [first] = tables;
  if (first !== undefined)
    return { offset: aboveComments(text, first.range[0]), length: 0, text: line + lineEnd + lineEnd };
  const isEnded = text === "" || text.endsWith("\n");
  return { offset: text.length, length: 0, text: isEnded ? line + lineEnd : lineEnd + line };
}

/** Beside a line that has opened the table at `path` by a dotted key: with the same beginning. */
export function addToDotted(
  text: string,
  line: AST.TOMLKeyValue,
  path: Path,
  name: string,
  value: Value,
): Edit {
  const own = line.key.keys.map((part) => (part.type === "TOMLBare" ? part.name : part.value));
  const isInTable = line.parent.type === "TOMLTable" ? line.parent.resolvedKey.length : 0;
  return addLineBehind(text, line, printMember([...own.slice(0, path.length - isInTable), name], value));
}

/** One more member of an inline table, or item of a list. */
export function addInline(node: AST.TOMLContentNode, printed: string): Edit {
  if (node.type === "TOMLValue") throw new TextFault("this is a single value", node.range[0]);
  const last = node.type === "TOMLArray" ? node.elements.at(-1) : node.body.at(-1);
  if (last !== undefined) return { offset: last.range[1], length: 0, text: `, ${printed}` };
  const isArray = node.type === "TOMLArray";
  return { offset: node.range[0] + 1, length: 0, text: isArray ? printed : ` ${printed} ` };
}

/** The text without these headers and lines; comments around them stay. */
export function cutEntries(text: string, entries: readonly (AST.TOMLTable | AST.TOMLKeyValue)[]): string {
  return cutOut(
    text,
    entries.map((entry) => {
      if (entry.type === "TOMLKeyValue") return lineSpan(text, entry.range[0], entry.range[1]);
      const header = lineSpan(text, entry.range[0], closeOf(text, entry));
      // The blank line that parts it from what is above.
      const blank = /(?:\r?\n)$/.exec(text.slice(0, header.offset));
      const more =
        text.startsWith("\n", header.offset) || text.startsWith("\r\n", header.offset)
          ? (blank?.[0].length ?? 0)
          : 0;
      return { offset: header.offset - more, length: header.length + more };
    }),
  );
}

/** The text without a member of an inline table or an item of a list, and without one comma. */
export function cutInline(text: string, entry: AST.TOMLKeyValue | AST.TOMLContentNode): string {
  const siblings = siblingsOf(entry);
  const at = siblings.indexOf(entry);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const [start, end] = entry.range;
  if (after !== undefined) return cutOut(text, [{ offset: start, length: after.range[0] - start }]);
  if (before !== undefined) return cutOut(text, [{ offset: before.range[1], length: end - before.range[1] }]);
  const blanks = /[ \t]*$/.exec(text.slice(0, start))?.index ?? start;
  const behind = /[ \t]*,?[ \t]*/y;
  behind.lastIndex = end;
  behind.test(text);
  return cutOut(text, [{ offset: blanks, length: behind.lastIndex - blanks }]);
}

function siblingsOf(
  entry: AST.TOMLKeyValue | AST.TOMLContentNode,
): readonly (AST.TOMLKeyValue | AST.TOMLContentNode)[] {
  const { parent } = entry;
  if (parent.type === "TOMLArray") return parent.elements;
  return parent.type === "TOMLInlineTable" ? parent.body : [entry];
}

function addLineBehind(text: string, { range }: { range: AST.TOMLKey["range"] }, line: string): Edit {
  const indent = indentAt(text, range[0]);
  return { offset: endOfLine(text, range[1]), length: 0, text: lineEndOf(text) + indent + line };
}

/** With the line end before it; the first line of a text with the one behind it, and blank lines there. */
function lineSpan(text: string, start: number, end: number): Span {
  const gap = startOfGap(text, start, end);
  if (gap > 0) return { offset: gap, length: end - gap };
  const behind = /(?:[ \t]*\r?\n)*/y;
  behind.lastIndex = end;
  behind.test(text);
  return { offset: 0, length: behind.lastIndex };
}

/** Behind the brackets of its header. */
function closeOf(text: string, table: AST.TOMLTable): number {
  const close = /\s*\](?:\s*\])?/y;
  close.lastIndex = table.key.range[1];
  return close.test(text) ? close.lastIndex : table.key.range[1];
}

/** The beginning of the line, or of the comment lines right above it. */
function aboveComments(text: string, offset: number): number {
  const start = startOfLine(text, offset);
  const comments = /(?:^|\n)((?:[ \t]*#[^\n]*\n)+)$/.exec(text.slice(0, start));
  return comments === null ? start : start - (comments[1] ?? "").length;
}
