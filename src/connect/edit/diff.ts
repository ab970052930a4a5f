import { structuredPatch } from "diff";
import { redactSecrets } from "../../core/secrets/redact-text.ts";
import { toPrintableLines } from "../../core/text/printable.ts";
import type { FileChange } from "./file-change.ts";

/** Longer lines are cut: a file without line breaks may be one line of megabytes. */
const MAX_LENGTH = 200;

/** Characters shown of a long line before and after each end of its difference. */
const CONTEXT_LENGTH = 50;

/**
 * Returns the lines of a unified diff (POSIX.1-2024, `diff -u`) without the two that name the files; none when nothing
 * changes. Redacts secrets, escapes control characters but tabs, and cuts long lines down to where they differ.
 */
export function renderDiff(change: Pick<FileChange, "before" | "after" | "secrets">): string[] {
  const before = redactSecrets(change.before ?? "", change.secrets);
  const after = redactSecrets(change.after ?? "", change.secrets);
  const { hunks } = structuredPatch("", "", before, after, "", "", {
    context: 3,
    stripTrailingCr: true,
  });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...shortenLines(lines).map(toPrintableLines),
  ]);
}

/**
 * Cuts the long lines of a diff hunk, which start with a space, `-` or `+`. A line that replaces another is cut to where
 * the two differ, any other to its start. `…` marks the omissions.
 */
export function shortenLines(lines: readonly string[]): string[] {
  const pairs = pairLines(lines);
  return lines.map((line, at) => (line.length <= MAX_LENGTH ? line : shorten(line, pairs.get(at))));
}

/** Pairs the lines of a hunk that replace each other: the first added line replaces the first removed one, and so on. */
function pairLines(lines: readonly string[]): Map<number, string> {
  const pairs = new Map<number, string>();
  let removed: number[] = [];
  let previous = " ";
  for (const [at, line] of lines.entries()) {
    const [sign = " "] = line;
    // `\ No newline at end of file`
    if (sign === "\\") continue;
    if (sign === " " || (sign === "-" && previous === "+")) removed = [];
    previous = sign;
    if (sign === "-") removed.push(at);
    const former = sign === "+" ? removed.shift() : undefined;
    if (former !== undefined) pairs.set(at, lines[former] ?? "").set(former, line);
  }
  return pairs;
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

/** Returns the range of a text between the prefix and the suffix that it shares with another. */
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
