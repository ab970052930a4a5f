/** Longer lines are cut: a file without line breaks may be one line of megabytes. */
const MAX_LENGTH = 200;

/** Characters shown of a long line before and after each end of its difference. */
const CONTEXT_LENGTH = 50;

/**
 * Cuts the long lines of a diff hunk, which start with a space, `-` or `+`. A line that replaces another is cut to where
 * the two differ, any other to its start. `…` stands for what is left out.
 */
export function shortenLines(lines: readonly string[]): string[] {
  return lines.map((line, at) =>
    line.length <= MAX_LENGTH ? line : shorten(line, findCounterpart(lines, at)),
  );
}

/** Returns the line that replaces a line, or that it replaces: the first added replaces the first removed, and so on. */
function findCounterpart(lines: readonly string[], at: number): string | undefined {
  const sign = lines[at]?.[0] ?? " ";
  const [first, last] = [findRunEnd(lines, at, -1), findRunEnd(lines, at, 1)];
  const otherSign = sign === "-" ? "+" : "-";
  const edge = sign === "-" ? stepOver(lines, last, 1) : stepOver(lines, first, -1);
  if (sign === " " || lines[edge]?.startsWith(otherSign) !== true) return undefined;
  const [otherFirst, otherLast] = [findRunEnd(lines, edge, -1), findRunEnd(lines, edge, 1)];
  const other = otherFirst + at - first;
  return other <= otherLast ? lines[other] : undefined;
}

/** Returns the last line with the same sign, in one direction. */
function findRunEnd(lines: readonly string[], at: number, direction: 1 | -1): number {
  let last = at;
  while (lines[last + direction]?.[0] === lines[at]?.[0]) last += direction;
  return last;
}

/** Returns the next line, past a `\ No newline at end of file`. */
function stepOver(lines: readonly string[], at: number, direction: 1 | -1): number {
  return at + (lines[at + direction]?.startsWith("\\") === true ? 2 * direction : direction);
}

function shorten(line: string, other: string | undefined): string {
  const sign = line.slice(0, 1);
  const text = line.slice(1);
  if (other === undefined) return sign + cutOut(text, 0, MAX_LENGTH);
  const { start, end } = findDifference(text, other.slice(1));
  if (end - start <= MAX_LENGTH) return sign + cutOut(text, start - CONTEXT_LENGTH, end + CONTEXT_LENGTH);
  const first = cutOut(text, start - CONTEXT_LENGTH, start + CONTEXT_LENGTH);
  return (
    sign + first + text.slice(end - CONTEXT_LENGTH, end) + cutOut(text, end, end + CONTEXT_LENGTH).slice(1)
  );
}

/** Returns the range of a text that is left without the prefix and suffix it shares with another. */
function findDifference(text: string, other: string): { start: number; end: number } {
  const shorter = Math.min(text.length, other.length);
  let start = 0;
  while (start < shorter && text[start] === other[start]) start += 1;
  let suffix = 0;
  while (suffix < shorter - start && text.at(-1 - suffix) === other.at(-1 - suffix)) suffix += 1;
  return { start, end: text.length - suffix };
}

function cutOut(text: string, from: number, to: number): string {
  const start = Math.max(0, from);
  return `${start > 0 ? "…" : ""}${text.slice(start, to)}${to < text.length ? "…" : ""}`;
}
