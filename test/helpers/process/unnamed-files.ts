import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

/** Returns what a process has open for captures and no directory has (Linux). */
export function unnamedCaptures(pid: number): Buffer[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const path = `/proc/${pid}/fd/${fd}`;
    if (!/capture-.*\(deleted\)$/.test(targetOf(path))) return [];
    const file = openSync(path, "r");
    const bytes = Buffer.alloc(fstatSync(file).size);
    readSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
    return [bytes];
  });
}

/** What a descriptor refers to; nothing if the process has closed it since it was listed. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
