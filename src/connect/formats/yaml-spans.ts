import { DocumentError } from "./format-editor.ts";
import { findGapStart, findLineStart, removeRange, skip } from "./text-edits.ts";
import { isCollection, isNode, isPair } from "./yaml-library.ts";
import type { Node, Pair, YAMLMap, YAMLSeq } from "./yaml-library.ts";

/** Returns the start of a node and the end of its value. */
export function rangeOf(node: Node): [number, number] {
  if (node.range === undefined || node.range === null)
    throw new DocumentError("has no position in the file", null);
  return [node.range[0], node.range[1]];
}

/** Returns the end of an entry. A block collection ends with its last entry, before trailing blank lines and comments. */
export function findEnd(entry: Node | Pair): number {
  if (isPair(entry)) return findEnd((entry.value ?? entry.key) as Node);
  if (!isCollection(entry) || entry.flow === true) return rangeOf(entry)[1];
  const last = entry.items.at(-1);
  return last === undefined ? rangeOf(entry)[1] : findEnd(last as Node | Pair);
}

/** Returns the number of characters before `offset` in its line. */
export function columnAt(text: string, offset: number): number {
  return offset - findLineStart(text, offset);
}

/** Returns the text without an entry. A block collection cannot be empty: it becomes `{}` or `[]`. */
export function removeEntry(text: string, container: YAMLMap | YAMLSeq, entry: Pair | Node): string {
  const items = container.items as (Pair | Node)[];
  const at = items.indexOf(entry);
  const [before, after] = [items[at - 1], items[at + 1]];
  const [start, end] = [findStart(entry), findEnd(entry)];
  if (container.flow === true) {
    if (after !== undefined) return removeRange(text, start, findStart(after));
    return removeRange(text, before === undefined ? start : findEnd(before), end);
  }
  // The range of a list item starts after its dash.
  const first = isNode(entry) && !isPair(entry) ? findDash(text, start) : start;
  if (items.length === 1) {
    // A leading space: a list may start in the column of its key, where `[]` may not.
    const empty = isPair(entry) ? " {}" : " []";
    return text.slice(0, first) + empty + text.slice(trimLineEnd(text, end));
  }
  const isFirstBehindDash = text.slice(findLineStart(text, first), first).trim() !== "";
  if (isFirstBehindDash && after !== undefined) {
    return removeRange(text, first, isPair(entry) ? findStart(after) : findDash(text, findStart(after)));
  }
  const last = trimLineEnd(text, end);
  const gap = findGapStart(text, first, last);
  return gap > 0 ? removeRange(text, gap, last) : text.slice(skip(text, last, /[ \t]*(?:\r?\n)?/y));
}

/** Ignores an anchor or tag, which precede the range; entries we write have none. */
function findStart(entry: Node | Pair): number {
  return rangeOf((isPair(entry) ? entry.key : entry) as Node)[0];
}

function findDash(text: string, offset: number): number {
  return text.lastIndexOf("-", offset - 1);
}

/** Excludes the line ending that the range of a block scalar includes. */
export function trimLineEnd(text: string, end: number): number {
  return text[end - 1] === "\n" ? end - (text[end - 2] === "\r" ? 2 : 1) : end;
}
