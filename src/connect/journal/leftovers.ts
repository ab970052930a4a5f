import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasCode } from "../../core/thrown.ts";
import { namesIn } from "../edit/directories.ts";

/** Where the new text of a file is until it is whole; the number is that of the process which writes it. */
export function unfinishedOf(path: string): string {
  return `${path}.tollkeeper-${process.pid}`;
}

/** Removes the texts that processes left beside a file which were killed while they replaced it. */
export function removeLeftovers(path: string): void {
  const start = `${basename(path)}.tollkeeper-`;
  for (const name of namesIn(dirname(path))) {
    const pid = name.startsWith(start) ? name.slice(start.length) : "";
    if (/^\d+$/.test(pid) && !isAtWork(Number(pid))) fs.rmSync(join(dirname(path), name), { force: true });
  }
}

/** We ourselves replace one file at a time, and ask before. */
function isAtWork(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}
