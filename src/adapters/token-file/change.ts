import * as fs from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure, hasCode } from "../../core/failure.ts";
import { formatTokenEntries, type TokenEntry } from "../../core/identity/token-entry.ts";
import { attribute, reasonOf } from "../../core/system-error.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import { putInPlace } from "../../replace-file.ts";
import { fixOf } from "../system-fix.ts";
import { readEntries } from "./read.ts";

/** A change takes 1 to 2 ms, so a lock that is older was left by a process that was killed. */
const LOCK_TIMEOUT_MS = 3_000;
const RETRY_INTERVAL_MS = 5;

/**
 * Replaces the entries of the file by what `edit` returns for them. The new file is also the lock, as with git's index:
 * it is created exclusively and renamed over the old one when it is complete. Concurrent changes therefore lose nothing,
 * and readers see either the old file or the new one. Throws a Failure, with nothing changed, when that is impossible.
 */
export async function changeEntries(
  path: string,
  edit: (entries: TokenEntry[]) => TokenEntry[],
): Promise<void> {
  const next = `${path}.new`;
  const fd = await openExclusively(next);
  try {
    // The mode that `open` takes is subject to the umask.
    fs.fchmodSync(fd, 0o600);
    fs.writeFileSync(fd, formatTokenEntries(edit(readEntries(path))));
    fs.fsyncSync(fd);
    putInPlace(next, path);
  } catch (error) {
    fs.rmSync(next, { force: true });
    throw cannotChange(path, error);
  } finally {
    fs.closeSync(fd);
  }
}

async function openExclusively(next: string): Promise<number> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    const fd = tryOpenExclusively(next);
    if (fd !== null) return fd;
    if (performance.now() > deadline) {
      const message = `another tollkeeper is changing the local tokens, or was killed while doing so: ${next} exists`;
      throw new Failure(message, `if no other tollkeeper is running: rm ${quoteForShell(next)}`);
    }
    await delay(RETRY_INTERVAL_MS);
  }
}

/** Returns null while another process holds the lock. */
function tryOpenExclusively(next: string): number | null {
  try {
    fs.mkdirSync(dirname(next), { recursive: true, mode: 0o700 });
    return fs.openSync(next, "wx", 0o600);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return null;
    throw cannotChange(next, error);
  }
}

function cannotChange(path: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure(`cannot write ${path}: ${reasonOf(error)}`, fixOf(attribute(error, path)), {
    cause: error,
  });
}
