import { statfs } from "node:fs/promises";
import { failure, warning, type Finding } from "../../../check/check.ts";
import { quoteForShell } from "../../../core/text/shell-words.ts";

const MB = 1_000_000;
const GB = 1_000 * MB;

/** Chosen so that a disk is reported before it is full; a record takes about 1 kB. */
const [FAILURE_BELOW, WARNING_BELOW] = [100 * MB, GB];

/** Returns how many bytes this user can still write to the file system of `path`. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Reports a disk that is nearly full. `free` is in bytes. */
export function diskSpaceFindings(free: number, path: string): Finding[] {
  if (free >= WARNING_BELOW) return [];
  const what = `${formatBytes(free)} are free on the disk of ${path}`;
  const fix = `make room; see what takes it with: df -h ${quoteForShell(path)}`;
  return [free < FAILURE_BELOW ? failure(what, fix) : warning(what, fix)];
}

/** Returns e.g. `12 bytes`, `3.4 MB`, `80.1 GB`, in decimal units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < MB) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < GB ? `${(bytes / MB).toFixed(1)} MB` : `${(bytes / GB).toFixed(1)} GB`;
}
