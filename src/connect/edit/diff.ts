import { structuredPatch } from "diff";
import { redactSecrets } from "../../core/secrets/redact.ts";
import { toPrintable } from "../../core/text/printable.ts";
import type { FileChange } from "./file-change.ts";
import { shortenLines } from "./shorten-lines.ts";

/** Lines shown before and after each change. */
const CONTEXT = 3;

/**
 * Returns the lines of a unified diff (POSIX.1-2024, `diff -u`) without the two that name the files. Secrets are redacted,
 * control characters are escaped, and long lines are cut down to where they differ. Empty when nothing changes.
 */
export function renderDiff(change: Pick<FileChange, "before" | "after" | "secrets">): string[] {
  const options = { context: CONTEXT, stripTrailingCr: true };
  const before = redactSecrets(change.before ?? "", change.secrets);
  const after = redactSecrets(change.after ?? "", change.secrets);
  const { hunks } = structuredPatch("", "", before, after, "", "", options);
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...shortenLines(lines).map((line) => toPrintable(line)),
  ]);
}
