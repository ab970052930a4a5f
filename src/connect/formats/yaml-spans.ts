import { isCollection, isNode, isPair } from "yaml";
import type { Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { cutOut, startOfGap, startOfLine, TextFault } from "./language.ts";

/** Where a node begins and where its value ends. */
export function rangeOf(node: Node): [number, number] {
  if (node.range === undefined || node.range === null) throw new TextFault("cannot be placed", null);
  return [node.range[0], node.range[1]];
}

/** Where an entry ends; a collection in blocks with its last entry, before the blank lines and comments behind. */
export function endOf(entry: Node | Pair): number {
  if (isPair(entry)) return endOf((entry.value ?? entry.key) as Node);
  if (!isCollection(entry) || entry.flow === true) return rangeOf(entry)[1];
  const last = entry.items.at(-1);
  return last === undefined ? rangeOf(entry)[1] : endOf(last as Node | Pair);
}

/** Characters before `offset` in its line. */
export function columnOf(text: string, offset: number): number {
  return offset - startOfLine(text, offset);
}

/** The text without an entry. A container in blocks cannot be empty: it becomes `{}` or `[]`. */
export function cutEntry(text: string, container: YAMLMap | YAMLSeq, entry: Pair | Node): string {
  const items = container.items as (Pair | Node)[];
  const at = items.indexOf(entry);
  const [before, after] = [items[at - 1], items[at + 1]];
  const [start, end] = [startOf(entry), endOf(entry)];
  if (container.flow === true) return cutFlow(text, start, end, before, after);
  // A list is in its place where its first dash is, an entry of it behind the dash.
  const first = isNode(entry) && !isPair(entry) ? dashBefore(text, start) : start;
  if (items.length === 1) {
    // One more blank: a list's dashes may be in the column of its key, where nothing else may be.
    const empty = isPair(entry) ? " {}" : " []";
    return text.slice(0, first) + empty + text.slice(trimmedEnd(text, end));
  }
  const isFirstBehindDash = text.slice(startOfLine(text, first), first).trim() !== "";
  if (isFirstBehindDash && after !== undefined) {
    const next = isPair(entry) ? startOf(after) : dashBefore(text, startOf(after));
    return cutOut(text, [{ offset: first, length: next - first }]);
  }
  const last = trimmedEnd(text, end);
  const gap = startOfGap(text, first, last);
  if (gap > 0) return cutOut(text, [{ offset: gap, length: last - gap }]);
  const lineEnd = /[ \t]*(?:\r?\n)?/y;
  lineEnd.lastIndex = last;
  lineEnd.test(text);
  return cutOut(text, [{ offset: 0, length: lineEnd.lastIndex }]);
}

function cutFlow(
  text: string,
  start: number,
  end: number,
  before?: Pair | Node,
  after?: Pair | Node,
): string {
  if (after !== undefined) return cutOut(text, [{ offset: start, length: startOf(after) - start }]);
  const from = before === undefined ? start : endOf(before);
  return cutOut(text, [{ offset: from, length: end - from }]);
}

/** With its anchor and tag, which stand before what the range says, a node would begin earlier; ours have none. */
function startOf(entry: Node | Pair): number {
  return rangeOf((isPair(entry) ? entry.key : entry) as Node)[0];
}

function dashBefore(text: string, offset: number): number {
  return text.lastIndexOf("-", offset - 1);
}

/** Without the line end that a text of several lines includes. */
export function trimmedEnd(text: string, end: number): number {
  return text[end - 1] === "\n" ? end - (text[end - 2] === "\r" ? 2 : 1) : end;
}
