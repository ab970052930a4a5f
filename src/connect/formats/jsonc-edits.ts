import type { Node } from "jsonc-parser";
import { isCompact, isOnOneLine, unitOf } from "./jsonc-print.ts";
import { cutOut, indentAt, indentRest, lineEndOf, startOfGap } from "./language.ts";
import type { Edit, Span } from "./language.ts";

/** Puts a printed member or item into an object or list, behind the others. */
export function addToContainer(text: string, container: Node, printed: string): Edit {
  const last = container.children?.at(-1);
  if (last === undefined) return addToEmpty(text, container, printed);
  const gap = gapBefore(text, container);
  const entry = indentRest(printed, gap.replace(/^\r?\n/, ""), lineEndOf(text));
  const end = last.offset + last.length;
  const comma = commaBehind(text, end);
  if (comma !== null) return { offset: behindComment(text, comma + 1), length: 0, text: gap + entry };
  if (behindComment(text, end) === end) return { offset: end, length: 0, text: `,${gap}${entry}` };
  // The comma would stand before the comment and the entry behind it: two pieces, where one is easier to take out again.
  return addInFront(text, container, gap, entry);
}

/** Takes a member or item out, with one comma, and what parted it from what stands before it. */
export function removeFromContainer(text: string, entry: Node): string {
  const container = entry.parent;
  const siblings = container?.children ?? [];
  const before = siblings[siblings.indexOf(entry) - 1];
  const end = entry.offset + entry.length;
  const comma = commaBehind(text, end);
  const start = startOfGap(text, entry.offset, (comma ?? end - 1) + 1);
  const spans: Span[] = [{ offset: start, length: end - start }];
  const commaBefore = before && comma === null ? commaBehind(text, before.offset + before.length) : null;
  if (commaBefore !== null) spans.push({ offset: commaBefore, length: 1 });
  // Where nothing parts it from the brace, what stands behind it is to be where it was.
  if (comma !== null)
    spans.push({ offset: comma, length: start < entry.offset ? 1 : 1 + blanksAt(text, comma + 1) });
  if (container !== undefined && siblings.length === 1)
    spans.push(...blankRest(text, container, start, comma ?? end - 1));
  return cutOut(text, spans);
}

/** What is left of an object that becomes empty, where that is blank. */
function blankRest(text: string, container: Node, start: number, last: number): Span[] {
  const end = container.offset + container.length - 1;
  const isBlank =
    text.slice(container.offset + 1, start).trim() === "" && text.slice(last + 1, end).trim() === "";
  return isBlank ? [{ offset: last + 1, length: end - last - 1 }] : [];
}

function addInFront(text: string, container: Node, gap: string, entry: string): Edit {
  const offset = container.offset + 1;
  if (!gap.includes("\n")) return { offset, length: 0, text: `${entry},${gap}` };
  return { offset: behindComment(text, offset), length: 0, text: `${gap}${entry},` };
}

function addToEmpty(text: string, container: Node, printed: string): Edit {
  const inside: Span = { offset: container.offset + 1, length: container.length - 2 };
  const content = text.slice(inside.offset, inside.offset + inside.length);
  if (isOnOneLine(text, container)) return { ...inside, length: 0, text: printed };
  const lineEnd = lineEndOf(text);
  const outer = indentAt(text, container.offset);
  const entry = lineEnd + outer + unitOf(text) + indentRest(printed, outer + unitOf(text), lineEnd);
  if (content.trim() === "") return { ...inside, text: entry + lineEnd + outer };
  // Comments only; they stay in front.
  const length = content.trimEnd().length;
  const behind = content.slice(length).includes("\n") ? "" : lineEnd + outer;
  return { offset: inside.offset + length, length: 0, text: entry + behind };
}

/** What parts a container's last entry from what stands before it: a line end and indentation, or a blank. */
function gapBefore(text: string, container: Node): string {
  if (isOnOneLine(text, container)) return hasBlankBehindComma(text) ? " " : "";
  const own = container.children?.find(({ offset }) => /(?:^|\n)[ \t]*$/.test(text.slice(0, offset)));
  const indent =
    own === undefined ? indentAt(text, container.offset) + unitOf(text) : indentAt(text, own.offset);
  return lineEndOf(text) + indent;
}

/** A file without commas is as its colons are. */
function hasBlankBehindComma(text: string): boolean {
  return text.includes(",") ? /,\s/.test(text) : !isCompact(text);
}

function blanksAt(text: string, offset: number): number {
  return /^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0;
}

/** Where the comma is that follows; null where none does. */
function commaBehind(text: string, offset: number): number | null {
  const next = skipTrivia(text, offset);
  return text[next] === "," ? next : null;
}

/** On over the comments that stand on the same line; they belong to what is before them. */
function behindComment(text: string, offset: number): number {
  const comments = /(?:[ \t]*\/\*(?:[^\n*]|\*(?!\/))*\*\/)*(?:[ \t]*\/\/[^\r\n]*)?/y;
  comments.lastIndex = offset;
  comments.test(text);
  return comments.lastIndex;
}

/** On over white space and comments. */
function skipTrivia(text: string, offset: number): number {
  const trivia = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
  trivia.lastIndex = offset;
  trivia.test(text);
  return trivia.lastIndex;
}
