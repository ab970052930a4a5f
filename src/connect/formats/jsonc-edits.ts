import type { Value } from "../../tools/setting.ts";
import type { Node } from "./jsonc-library.ts";
import { detectIndentUnit, isCompact, isOnOneLine } from "./jsonc-print.ts";
import {
  detectLineEnding,
  type Edit,
  findGapStart,
  indentFollowingLines,
  insertAt,
  readIndent,
  removeSpans,
  skip,
  type Span,
} from "./text-edits.ts";

/** Adds the first object to a text that is empty or holds only comments. */
export function createTopObject(text: string, name: string, value: Value): Edit {
  const lineEnding = detectLineEnding(text);
  const printed = JSON.stringify({ [name]: value }, null, 2).replaceAll("\n", lineEnding);
  const before = /[^\s]\s*$/.test(text) && !text.endsWith("\n") ? lineEnding : "";
  return insertAt(text.length, before + printed + lineEnding);
}

/**
 * Adds a printed member or item to an object or list.
 * @param isOrdered whether a new member of an object has to come last, as items of lists always do. It then also ends with a comma
 * where the last one did, so that removing it leaves the text as it was
 */
export function addToContainer(text: string, container: Node, printed: string, isOrdered: boolean): Edit {
  const last = container.children?.at(-1);
  if (last === undefined) return addToEmpty(text, container, printed);
  const gap = detectSeparator(text, container);
  const entry = indentFollowingLines(printed, gap.replace(/^\r?\n/, ""), detectLineEnding(text));
  const end = last.offset + last.length;
  const comma = findComma(text, end);
  if (comma !== null)
    return insertAt(skipLineComments(text, comma + 1), gap + entry + (isOrdered ? "," : ""));
  const behind = text.slice(end, skipLineComments(text, end));
  // A comment that follows the last entry goes between the comma and the new one.
  if (behind === "" || isOrdered || container.type === "array")
    return { offset: end, length: behind.length, text: `,${behind}${gap}${entry}` };
  // Where the order does not count, the new member goes first, and the edit replaces nothing.
  const start = container.offset + 1;
  if (!gap.includes("\n")) return insertAt(start, `${entry},${gap}`);
  return insertAt(skipLineComments(text, start), `${gap}${entry},`);
}

function addToEmpty(text: string, container: Node, printed: string): Edit {
  const start = container.offset + 1;
  if (isOnOneLine(text, container)) return insertAt(start, printed);
  const content = text.slice(start, container.offset + container.length - 1);
  const lineEnding = detectLineEnding(text);
  const outer = readIndent(text, container.offset);
  const inner = outer + detectIndentUnit(text);
  const entry = lineEnding + inner + indentFollowingLines(printed, inner, lineEnding);
  const closing = lineEnding + outer;
  if (content.trim() === "") return { offset: start, length: content.length, text: entry + closing };
  // The container holds only comments; they stay in front.
  const length = content.trimEnd().length;
  return insertAt(start + length, content.slice(length).includes("\n") ? entry : entry + closing);
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
  if (comma !== null) {
    // Without white space before the entry, removes the spaces after its comma, so that the next entry takes its place.
    const rest = start < entry.offset ? comma + 1 : skip(text, comma + 1, /[ \t]*/y);
    spans.push({ offset: comma, length: rest - comma });
  }
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

/** Returns the white space between the entries of a container: a line ending and indentation, or a space. */
function detectSeparator(text: string, container: Node): string {
  if (isOnOneLine(text, container)) {
    // In a file without commas, the spacing of colons decides.
    const isSpaced = text.includes(",") ? /,\s/.test(text) : !isCompact(text);
    return isSpaced ? " " : "";
  }
  const own = container.children?.find(({ offset }) => /(?:^|\n)[ \t]*$/.test(text.slice(0, offset)));
  const indent =
    own === undefined
      ? readIndent(text, container.offset) + detectIndentUnit(text)
      : readIndent(text, own.offset);
  return detectLineEnding(text) + indent;
}

/** Returns the offset of the comma that follows, after white space and comments; null when there is none. */
function findComma(text: string, offset: number): number | null {
  const next = skip(text, offset, /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y);
  return text[next] === "," ? next : null;
}

/** Skips the comments on the rest of the line, which belong to what precedes them. */
function skipLineComments(text: string, offset: number): number {
  return skip(text, offset, /(?:[ \t]*\/\*(?:[^\n*]|\*(?!\/))*\*\/)*(?:[ \t]*\/\/[^\r\n]*)?/y);
}
