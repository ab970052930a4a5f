import { structuredPatch } from "diff";
import { blotKeys } from "../core/key-shape.ts";
import { printable } from "../core/printable.ts";
import type { FileChange } from "./connection.ts";

/** Lines shown before and behind each change. */
const CONTEXT = 3;

/**
 * The change as lines of a unified diff (POSIX.1-2024, `diff -u`), without the two that name the files: hunk headers, and
 * lines that begin with a blank, `-` or `+`. Keys are blotted, and characters that act on a terminal written out. Empty
 * where nothing changes.
 */
export function renderDiff({ before, after }: Pick<FileChange, "before" | "after">): string[] {
  const options = { context: CONTEXT, stripTrailingCr: true };
  const { hunks } = structuredPatch("", "", blotKeys(before ?? ""), blotKeys(after ?? ""), "", "", options);
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines.map((line) => printable(line)),
  ]);
}
