/** A range of a text, in UTF-16 code units. */
export interface Span {
  offset: number;
  length: number;
}

/** The replacement of a range by `text`. */
export interface Edit extends Span {
  text: string;
}

/** Returns an edit that adds text at an offset. */
export function insertAt(offset: number, text: string): Edit {
  return { offset, length: 0, text };
}

/** True when new lines can be appended without joining them to the last one. */
export function isTerminated(text: string): boolean {
  return text === "" || text.endsWith("\n");
}

/** Returns the text after an edit. */
export function applyEdit(text: string, { offset, length, text: inserted }: Edit): string {
  return text.slice(0, offset) + inserted + text.slice(offset + length);
}

/** Returns the text without these ranges, which must not overlap. */
export function removeSpans(text: string, spans: readonly Span[]): string {
  const lastFirst = [...spans].sort((one, other) => other.offset - one.offset);
  return lastFirst.reduce((rest, span) => applyEdit(rest, { ...span, text: "" }), text);
}

/** Returns the text without the characters from `start` to `end`. */
export function removeRange(text: string, start: number, end: number): string {
  return text.slice(0, start) + text.slice(end);
}

/** Returns the offset after what a sticky pattern matches at `offset`; `offset` itself when it does not match. */
export function skip(text: string, offset: number, pattern: RegExp): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

/** Returns the line ending of the text's first line; `\n` when there is none. */
export function detectLineEnding(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** Returns the end of the line that contains `offset`, before its line ending. */
export function findLineEnd(text: string, offset: number): number {
  const found = /\r?\n/g;
  found.lastIndex = offset;
  return found.exec(text)?.index ?? text.length;
}

/** Returns the start of the line that contains `offset`. */
export function findLineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the spaces and tabs that start the line containing `offset`. */
export function readIndent(text: string, offset: number): string {
  return /[ \t]*/y.exec(text.slice(findLineStart(text, offset)))?.[0] ?? "";
}

/**
 * Returns the start of the white space to remove together with a range: the spaces and tabs before it, and the line
 * ending before those if the rest of the range's last line is blank. Otherwise that line ending may end a comment.
 */
export function findGapStart(text: string, start: number, end: number): number {
  const isAlone = text.slice(end, findLineEnd(text, end)).trim() === "";
  const gap = isAlone ? /(?:\r?\n)?[ \t]*$/ : /[ \t]*$/;
  return gap.exec(text.slice(0, start))?.index ?? start;
}

/** Indents every line but the first, and ends each with `lineEnding`. */
export function indentFollowingLines(text: string, indent: string, lineEnding: string): string {
  return text.split("\n").join(lineEnding + indent);
}

/** Splits off a byte order mark, which stays in the file and which no format editor handles. */
export function splitByteOrderMark(text: string): { mark: string; body: string } {
  const length = text.startsWith("\uFEFF") ? 1 : 0;
  return { mark: text.slice(0, length), body: text.slice(length) };
}
