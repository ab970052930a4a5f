import { statfs } from "node:fs/promises";

/** Returns how many bytes this user can still write to the file system of `path`. Rejects where that cannot be said. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
