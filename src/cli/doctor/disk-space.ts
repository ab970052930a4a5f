import { statfs } from "node:fs/promises";
import { failure, warning, type Finding } from "./finding.ts";

const MB = 1_000_000;
const GB = 1_000 * MB;

/** Below these a disk fills up before anybody notices; a record has about 1 kB. */
const [FAILURE_BELOW, WARNING_BELOW] = [100 * MB, GB];

/** Bytes that this user may still write to the file system of `path`. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

export function judgeSpace(free: number, path: string): Finding[] {
  if (free >= WARNING_BELOW) return [];
  const what = `${writeBytes(free)} are free on the disk of ${path}`;
  const fix = `make room; see what takes it with: df -h '${path}'`;
  return [free < FAILURE_BELOW ? failure(what, fix) : warning(what, fix)];
}

/** `12 bytes`, `3.4 MB`, `80.1 GB`: decimal, as disks are sold. */
export function writeBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < MB) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < GB ? `${(bytes / MB).toFixed(1)} MB` : `${(bytes / GB).toFixed(1)} GB`;
}
