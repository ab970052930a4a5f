import measure from "fast-string-truncated-width";

/** Texts whose every character takes one column: nearly all, with lower bounds, unknown figures and what was cut. */
const PLAIN = /^[\x20-\x7e≥–…]*$/;

/** Returns how many columns of a terminal a text takes: two for most Asian characters and emoji, none for a style. */
export function widthOf(text: string): number {
  return PLAIN.test(text) ? text.length : measure(text).width;
}

/** Fills a text up to a number of columns, with spaces behind it (`left`) or before it. */
export function pad(text: string, width: number, align: "left" | "right"): string {
  const spaces = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + spaces : spaces + text;
}

/** Cuts a text to a number of columns, the last of which then says that it was cut. */
export function shorten(text: string, width: number): string {
  return widthOf(text) > width ? `${beginningOf(text, width - 1)}…` : text;
}

/** Cuts what has no room out of the middle of a text, and says so there: both ends of a model's name tell it from others. */
export function shortenMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const end = endOf(text, Math.floor((width - 1) / 2));
  return `${beginningOf(text, width - 1 - widthOf(end))}…${end}`;
}

/** Returns as much of a text's end as has room, without half a character. */
export function endOf(text: string, width: number): string {
  if (PLAIN.test(text)) return width <= 0 ? "" : text.slice(-width);
  const pieces = cutInPieces(text, 1).toReversed();
  let end = "";
  for (const piece of pieces) {
    if (widthOf(piece + end) > width) break;
    end = piece + end;
  }
  return end;
}

/** Cuts a text anywhere into pieces of at most `width` columns. A character that is wider is a piece of its own. */
export function cutInPieces(text: string, width: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ""; rest = rest.slice(pieces.at(-1)?.length)) {
    const [first = ""] = rest;
    pieces.push(beginningOf(rest, width) || first);
  }
  return pieces;
}

/** Returns as much of a text's beginning as has room, without half a character. */
function beginningOf(text: string, width: number): string {
  if (PLAIN.test(text)) return text.slice(0, Math.max(0, width));
  let beginning = "";
  for (const character of text) {
    const longer = beginning + character;
    if (widthOf(longer) > width) break;
    beginning = longer;
  }
  return beginning;
}
