/** A longer line is cut: a file written without line ends may be one of megabytes. */
const LONGEST = 200;

/** Shown of a long line, before and behind where its difference begins and where it ends. */
const AROUND = 50;

/**
 * Lines of a hunk, each beginning with a blank, `-` or `+`, of which the long ones are cut: those that take one another's
 * place to where they differ, others to their beginning. `…` stands for what is left out.
 */
export function shortenLines(lines: readonly string[]): string[] {
  return lines.map((line, at) => (line.length <= LONGEST ? line : shorten(line, counterpartOf(lines, at))));
}

/** Of removed lines the first is replaced by the first added, and so on; undefined where there is none. */
function counterpartOf(lines: readonly string[], at: number): string | undefined {
  const sign = lines[at]?.[0] ?? " ";
  const [first, last] = [lastOf(lines, at, -1), lastOf(lines, at, 1)];
  const otherSign = sign === "-" ? "+" : "-";
  const edge = sign === "-" ? besides(lines, last, 1) : besides(lines, first, -1);
  if (sign === " " || lines[edge]?.startsWith(otherSign) !== true) return undefined;
  const [otherFirst, otherLast] = [lastOf(lines, edge, -1), lastOf(lines, edge, 1)];
  const other = otherFirst + at - first;
  return other <= otherLast ? lines[other] : undefined;
}

/** Where, in one direction, the lines end that have the same sign. */
function lastOf(lines: readonly string[], at: number, direction: 1 | -1): number {
  let last = at;
  while (lines[last + direction]?.[0] === lines[at]?.[0]) last += direction;
  return last;
}

/** On to the next line, over the one which says that there is no line end. */
function besides(lines: readonly string[], at: number, direction: 1 | -1): number {
  return at + (lines[at + direction]?.startsWith("\\") === true ? 2 * direction : direction);
}

function shorten(line: string, other: string | undefined): string {
  const sign = line.slice(0, 1);
  const text = line.slice(1);
  if (other === undefined) return sign + pieceOf(text, 0, LONGEST);
  const { start, end } = differenceOf(text, other.slice(1));
  if (end - start <= LONGEST) return sign + pieceOf(text, start - AROUND, end + AROUND);
  const first = pieceOf(text, start - AROUND, start + AROUND);
  return sign + first + text.slice(end - AROUND, end) + pieceOf(text, end, end + AROUND).slice(1);
}

/** What of a text is not in another: all between the beginning and the end that both have. */
function differenceOf(text: string, other: string): { start: number; end: number } {
  const least = Math.min(text.length, other.length);
  let start = 0;
  while (start < least && text[start] === other[start]) start += 1;
  let same = 0;
  while (same < least - start && text.at(-1 - same) === other.at(-1 - same)) same += 1;
  return { start, end: text.length - same };
}

function pieceOf(text: string, from: number, to: number): string {
  const start = Math.max(0, from);
  return `${start > 0 ? "…" : ""}${text.slice(start, to)}${to < text.length ? "…" : ""}`;
}
