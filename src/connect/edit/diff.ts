import { structuredPatch } from "diff";
import { redactSecrets } from "../../core/secrets/redact.ts";
import { printable } from "../../core/text/printable.ts";
import type { FileChange } from "../connection.ts";
import { shortenLines } from "./shorten-lines.ts";

/** Lines shown before and behind each change. */
const CONTEXT = 3;

/**
 * The change as lines of a unified diff (POSIX.1-2024, `diff -u`), without the two that name the files: hunk headers, and
 * lines that begin with a blank, `-` or `+`. Secrets are blotted, characters that act on a terminal written out, and long
 * lines cut down to where they differ. Empty where nothing changes.
 */
export function renderDiff(change: Pick<FileChange, "before" | "after" | "secrets">): string[] {
  const options = { context: CONTEXT, stripTrailingCr: true };
  const before = redactSecrets(change.before ?? "", change.secrets);
  const after = redactSecrets(change.after ?? "", change.secrets);
  const { hunks } = structuredPatch("", "", before, after, "", "", options);
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...shortenLines(lines).map((line) => printable(line)),
  ]);
}
