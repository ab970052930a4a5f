import type { Stats } from "node:fs";
import { join } from "node:path";
import { countOf } from "../terminal/count-of.ts";
import { failure, warning, type Finding } from "./finding.ts";

/** A file of the ledger's, links not followed. */
export interface SeenFile {
  name: string;
  stats: Stats;
}

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/** What is wrong with the ledger's directory (facts/threats.md E4); the daemon refuses to start for the failures. */
export function judgeLedgerDirectory(directory: string, found: Stats, self: number | null): Finding[] {
  if (!found.isDirectory()) {
    const fix = 'name the real directory as "ledger.directory" with: tollkeeper config edit';
    return [failure(`${directory} is a link, or no directory`, fix)];
  }
  if (self === null) return [];
  if (found.uid !== self) return [belongsToOther(directory, found, self)];
  const close = `chmod 700 '${directory}'`;
  if ((found.mode & WRITABLE_BY_OTHERS) !== 0) {
    return [failure(`${directory} can be written by other users`, close)];
  }
  if ((found.mode & OPEN_TO_OTHERS) !== 0) return [warning(`${directory} can be read by other users`, close)];
  return [];
}

/** What is wrong with the files in it: links and foreign files are not written to, and no other user should read them. */
export function judgeLedgerFiles(
  directory: string,
  files: readonly SeenFile[],
  self: number | null,
): Finding[] {
  const findings = files.flatMap(({ name, stats }) => {
    const path = join(directory, name);
    if (!stats.isFile() || stats.nlink > 1) {
      return [failure(`${path} is a link, or no file, and is not written to`, `mv '${path}' '${path}.away'`)];
    }
    return self !== null && stats.uid !== self ? [belongsToOther(path, stats, self)] : [];
  });
  const open = files.filter(({ stats }) => self !== null && (stats.mode & OPEN_TO_OTHERS) !== 0);
  if (open.length > 0) {
    const what = `${countOf(open.length, "file")} in ${directory} can be read by other users`;
    findings.push(warning(what, `chmod go= '${directory}'/*`));
  }
  return findings;
}

function belongsToOther(path: string, { uid }: Stats, self: number): Finding {
  return failure(`${path} belongs to user ${uid}, and is not written to`, `sudo chown -R ${self} '${path}'`);
}
