import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Does something in a directory of its own, which is gone afterwards. */
export async function inScratch<T>(act: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "fuzz-"));
  try {
    return await act(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
