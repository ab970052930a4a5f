import type { Stats } from "node:fs";
import { join } from "node:path";
import { pluralize } from "../../terminal/format.ts";
import { failure, warning, type Finding } from "../../../check/check.ts";
import { fixForeignFile } from "../../../core/foreign-file.ts";
import { quoteForShell } from "../../../core/text/shell-words.ts";

/** A file of the ledger. Links are not followed. */
export interface LedgerFileStats {
  name: string;
  stats: Stats;
}

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/**
 * Reports what is wrong with the type, owner and mode of the ledger's directory (SECURITY.md E4). The daemon does not
 * start with what is a failure here.
 * @param self the user id of this process; null where there are none
 */
export function ledgerDirectoryFindings(directory: string, found: Stats, self: number | null): Finding[] {
  if (!found.isDirectory()) {
    const fix = 'set "ledger.directory" to the real directory with: tollkeeper config edit';
    return [failure(`${directory} is a link or not a directory`, fix)];
  }
  if (self === null) return [];
  if (found.uid !== self) return [foreignOwnerFailure(directory, found, self)];
  const fix = `chmod 700 ${quoteForShell(directory)}`;
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0) {
    return [failure(`${directory} can be written by other users`, fix)];
  }
  if ((found.mode & OPEN_TO_OTHERS) !== 0) return [failure(`${directory} is open to other users`, fix)];
  return [];
}

/** Reports what keeps the daemon from noting requests under way (SECURITY.md E7). Parameters as above. */
export function notesDirectoryFindings(path: string, found: Stats, self: number | null): Finding[] {
  if (found.isDirectory()) return ledgerDirectoryFindings(path, found, self);
  const fix = `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`;
  return [failure(`${path} is a link or not a directory, so a crash would hide running requests`, fix)];
}

/** Reports files that the daemon does not write to, links and other users' files, and files that other users can read. */
export function ledgerFileFindings(
  directory: string,
  files: readonly LedgerFileStats[],
  self: number | null,
): Finding[] {
  const findings = files.flatMap(({ name, stats }) => {
    const path = join(directory, name);
    if (!stats.isFile() || stats.nlink > 1) {
      const fix = `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`;
      return [failure(`${path} is a link or not a file, so tollkeeper does not write to it`, fix)];
    }
    return self !== null && stats.uid !== self ? [foreignOwnerFailure(path, stats, self)] : [];
  });
  const own = files.filter(({ stats }) => self !== null && stats.isFile());
  const open = own.filter(({ stats }) => (stats.mode & OPEN_TO_OTHERS) !== 0);
  if (open.length > 0) {
    const what = `${pluralize(open.length, "file")} in ${directory} can be read by other users`;
    findings.push(warning(what, `chmod go= ${quoteForShell(directory)}/*`));
  }
  return findings;
}

function foreignOwnerFailure(path: string, { uid }: Stats, self: number): Finding {
  return failure(
    `${path} belongs to user ${uid}, so tollkeeper does not write to it`,
    fixForeignFile(path, uid, self),
  );
}
