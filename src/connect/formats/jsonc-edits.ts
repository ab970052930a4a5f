import type { Node } from "jsonc-parser";
import { detectIndentUnit, isCompact, isOnOneLine } from "./jsonc-print.ts";
import {
  detectLineEnding,
  type Edit,
  findGapStart,
  indentFollowingLines,
  readIndent,
  removeSpans,
  type Span,
} from "./text-edits.ts";

/** Adds a printed member or item to an object or list, after the existing ones. */
export function addToContainer(text: string, container: Node, printed: string): Edit {
  const last = container.children?.at(-1);
  if (last === undefined) return addToEmpty(text, container, printed);
  const gap = detectSeparator(text, container);
  const entry = indentFollowingLines(printed, gap.replace(/^\r?\n/, ""), detectLineEnding(text));
  const end = last.offset + last.length;
  const comma = findComma(text, end);
  if (comma !== null) return { offset: skipLineComments(text, comma + 1), length: 0, text: gap + entry };
  if (skipLineComments(text, end) === end) return { offset: end, length: 0, text: `,${gap}${entry}` };
  // A comment follows the last entry: the comma would go before it and the new entry after it. One edit undoes more easily.
  return addFirst(text, container, gap, entry);
}

/** Returns the text without a member or item, one comma, and the white space before it. */
export function removeEntry(text: string, entry: Node): string {
  const container = entry.parent;
  const siblings = container?.children ?? [];
  const before = siblings[siblings.indexOf(entry) - 1];
  const end = entry.offset + entry.length;
  const comma = findComma(text, end);
  const start = findGapStart(text, entry.offset, (comma ?? end - 1) + 1);
  const spans: Span[] = [{ offset: start, length: end - start }];
  const commaBefore = before && comma === null ? findComma(text, before.offset + before.length) : null;
  if (commaBefore !== null) spans.push({ offset: commaBefore, length: 1 });
  // With no white space before the entry, the spaces after its comma go, so that the next entry takes its place.
  if (comma !== null)
    spans.push({ offset: comma, length: start < entry.offset ? 1 : 1 + countSpaces(text, comma + 1) });
  if (container !== undefined && siblings.length === 1)
    spans.push(...findBlankRest(text, container, start, comma ?? end - 1));
  return removeSpans(text, spans);
}

/** Returns what remains inside a container that becomes empty, if that is only white space. */
function findBlankRest(text: string, container: Node, start: number, last: number): Span[] {
  const end = container.offset + container.length - 1;
  const isBlank =
    text.slice(container.offset + 1, start).trim() === "" && text.slice(last + 1, end).trim() === "";
  return isBlank ? [{ offset: last + 1, length: end - last - 1 }] : [];
}

function addFirst(text: string, container: Node, gap: string, entry: string): Edit {
  const offset = container.offset + 1;
  if (!gap.includes("\n")) return { offset, length: 0, text: `${entry},${gap}` };
  return { offset: skipLineComments(text, offset), length: 0, text: `${gap}${entry},` };
}

function addToEmpty(text: string, container: Node, printed: string): Edit {
  const inside: Span = { offset: container.offset + 1, length: container.length - 2 };
  const content = text.slice(inside.offset, inside.offset + inside.length);
  if (isOnOneLine(text, container)) return { ...inside, length: 0, text: printed };
  const lineEnding = detectLineEnding(text);
  const outer = readIndent(text, container.offset);
  const entry =
    lineEnding +
    outer +
    detectIndentUnit(text) +
    indentFollowingLines(printed, outer + detectIndentUnit(text), lineEnding);
  if (content.trim() === "") return { ...inside, text: entry + lineEnding + outer };
  // The container holds only comments; they stay in front.
  const length = content.trimEnd().length;
  const closing = content.slice(length).includes("\n") ? "" : lineEnding + outer;
  return { offset: inside.offset + length, length: 0, text: entry + closing };
}

/** Returns the white space between the entries of a container: a line ending and indentation, or a space. */
function detectSeparator(text: string, container: Node): string {
  if (isOnOneLine(text, container)) return hasSpaceAfterComma(text) ? " " : "";
  const own = container.children?.find(({ offset }) => /(?:^|\n)[ \t]*$/.test(text.slice(0, offset)));
  const indent =
    own === undefined
      ? readIndent(text, container.offset) + detectIndentUnit(text)
      : readIndent(text, own.offset);
  return detectLineEnding(text) + indent;
}

/** In a file without commas, the spacing of colons decides. */
function hasSpaceAfterComma(text: string): boolean {
  return text.includes(",") ? /,\s/.test(text) : !isCompact(text);
}

function countSpaces(text: string, offset: number): number {
  return /^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0;
}

/** Returns the offset of the comma that follows; null when the next token is no comma. */
function findComma(text: string, offset: number): number | null {
  const next = skipTrivia(text, offset);
  return text[next] === "," ? next : null;
}

/** Skips the comments on the rest of the line, which belong to what precedes them. */
function skipLineComments(text: string, offset: number): number {
  const comments = /(?:[ \t]*\/\*(?:[^\n*]|\*(?!\/))*\*\/)*(?:[ \t]*\/\/[^\r\n]*)?/y;
  comments.lastIndex = offset;
  comments.test(text);
  return comments.lastIndex;
}

/** Skips white space and comments. */
function skipTrivia(text: string, offset: number): number {
  const trivia = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
  trivia.lastIndex = offset;
  trivia.test(text);
  return trivia.lastIndex;
}
