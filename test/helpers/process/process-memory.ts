import { closeSync, openSync, readFileSync, readSync } from "node:fs";

/** Returns what a process has in its memory, region by region (latin1). Throws where the system does not allow to read it. */
export function readMemory(pid: number): Record<string, string> {
  const maps = readFileSync(`/proc/${pid}/maps`, "latin1").split("\n");
  const memory = openSync(`/proc/${pid}/mem`, "r");
  const found: Record<string, string> = {};
  try {
    for (const line of maps) {
      const [, start = "", end = "", access = ""] = /^([0-9a-f]+)-([0-9a-f]+) (\S+)/.exec(line) ?? [];
      if (!access.startsWith("rw")) continue;
      const from = Number.parseInt(start, 16);
      const bytes = Buffer.alloc(Math.min(Number.parseInt(end, 16) - from, 256 * 1024 * 1024));
      found[line] = bytes.toString("latin1", 0, readRegion(memory, bytes, from));
    }
  } finally {
    closeSync(memory);
  }
  return found;
}

/** Returns 0 for a region that is gone, or cannot be read. */
function readRegion(memory: number, bytes: Buffer, from: number): number {
  try {
    return readSync(memory, bytes, 0, bytes.length, from);
  } catch {
    return 0;
  }
}
