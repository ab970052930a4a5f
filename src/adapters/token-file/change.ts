import * as fs from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";
import { writeTokenEntries, type TokenEntry } from "../../core/identity/token-entry.ts";
import { readEntries } from "./read.ts";

/** A change takes a millisecond or two; who waits so long waits for a process that was killed within its own. */
const PATIENCE_MS = 3_000;
const PAUSE_MS = 5;

/**
 * Puts what `edit` makes of the entries in their place. The new file is its own lock, as git's index is: made only where
 * it is not there yet, and renamed when it is whole, so that processes which do this at once lose nothing of each other's
 * and readers see one file or the other. Throws a Failure, with nothing changed, when that cannot be.
 */
export async function changeEntries(
  path: string,
  edit: (entries: TokenEntry[]) => TokenEntry[],
): Promise<void> {
  const next = `${path}.new`;
  const fd = await openAlone(next);
  try {
    // Whatever the umask is.
    fs.fchmodSync(fd, 0o600);
    fs.writeFileSync(fd, writeTokenEntries(edit(readEntries(path))));
    fs.fsyncSync(fd);
    fs.renameSync(next, path);
  } catch (error) {
    fs.rmSync(next, { force: true });
    throw cannotChange(path, error);
  } finally {
    fs.closeSync(fd);
  }
}

async function openAlone(next: string): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const fd = tryOpen(next);
    if (fd !== null) return fd;
    if (performance.now() > deadline) {
      const message = `another tollkeeper is changing the local tokens, or was killed while it did: ${next} is there`;
      throw new Failure(message, `when no other runs: rm '${next}'`);
    }
    await delay(PAUSE_MS);
  }
}

/** null while another process has it. */
function tryOpen(next: string): number | null {
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
  const hint = `look at: ls -ld '${dirname(path)}'`;
  return new Failure(`cannot write ${path}: ${messageOf(error)}`, hint, { cause: error });
}
