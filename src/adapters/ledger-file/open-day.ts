import { constants, readdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import { fixOf } from "../system-fix.ts";

/** Returns null when the file was deleted since it was listed. Neither follows a symbolic link nor blocks on a pipe. */
export async function openDay(path: string): Promise<FileHandle | null> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  const opening = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const file = await opening.catch((cause: unknown) => orNull(cause, path));
  if (file === null || (await file.stat()).isFile()) return file;
  await file.close();
  throw new Failure(
    `tollkeeper does not read ${path}: it is not a regular file`,
    `mv ${quoteForShell(path)} ${quoteForShell(`${path}.away`)}`,
  );
}

/** Returns the names in a directory; none when it is missing. Throws a Failure when it cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    return orNull(cause, directory) ?? [];
  }
}

/** Returns null where what could not be opened is missing. Throws a Failure for everything else. */
function orNull(cause: unknown, path: string): null {
  if (hasCode(cause, "ENOENT")) return null;
  if (hasCode(cause, "ELOOP"))
    throw new Failure(
      `tollkeeper does not read ${path}: it is a symbolic link`,
      `rm ${quoteForShell(path)}`,
      { cause },
    );
  throw new Failure(`cannot read the ledger: ${messageOf(cause)}`, fixOf(cause), { cause });
}
