import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

/** Returns what a process has open for captures and no directory has (Linux). */
export function unnamedCaptures(pid: number): Buffer[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    const path = `/proc/${pid}/fd/${fd}`;
    if (!/capture-.*\(deleted\)$/.test(readlinkSync(path))) return [];
    const file = openSync(path, "r");
    const bytes = Buffer.alloc(fstatSync(file).size);
    readSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
    return [bytes];
  });
}
