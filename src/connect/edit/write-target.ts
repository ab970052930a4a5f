import fs from "node:fs";
import { Failure } from "../../core/failure.ts";
import { hasCode } from "../../core/thrown.ts";
import { makeDirectory, removeEmpty } from "./directories.ts";
import { writeTrouble } from "./file-trouble.ts";
import { replaceFile } from "./replace-file.ts";
import type { FoundFile, TargetFile } from "./target-file.ts";

const NEW_FILE = 0o600;
const OWNER_WRITES = 0o200;

/**
 * Refuses a file that must not be replaced: somebody else's; one that its owner has made read-only; one with several names
 * (hard links), of which all but this one would keep the old text.
 */
export function refuseUnwritable({ path, place, found }: TargetFile): void {
  if (found === null) return;
  const { uid, mode, nlink } = found.stats;
  const self = process.getuid?.();
  if (self !== undefined && self !== 0 && uid !== self) {
    throw new Failure(`${path} belongs to another user`, `make it yours: sudo chown ${self} '${place}'`);
  }
  if ((mode & OWNER_WRITES) === 0) {
    throw new Failure(`${path} is read-only`, `if it may be changed: chmod u+w '${place}'`);
  }
  if (nlink > 1) {
    const apart = `cp -p '${place}' '${place}.new' && mv '${place}.new' '${place}'`;
    throw new Failure(
      `${path} has other names (hard links), which would keep the old text`,
      `make it one file: ${apart}`,
    );
  }
}

/**
 * Gives a file another text, or with null removes it. Keeps mode and owner; a new file is for its owner only, and so are
 * the directories made for it. Throws a Failure, with nothing changed, where that cannot be done, or where the file is not
 * any more what was read.
 */
export function writeTarget(target: TargetFile, text: string | null): void {
  refuseUnwritable(target);
  const { place, found } = target;
  const made: string[] = [];
  try {
    // Another file of the same connection may have needed it, too.
    for (const directory of target.missing) if (makeDirectory(directory)) made.push(directory);
    if (text === null) return removeFile(target);
    const mode = found === null ? NEW_FILE : found.stats.mode & 0o7777;
    replaceFile(place, {
      bytes: Buffer.from(text),
      mode,
      owner: found?.stats ?? null,
      check: () => refuseChanged(target),
    });
  } catch (error) {
    removeEmpty(made);
    throw writeTrouble(target.path, place, error);
  }
}

function removeFile(target: TargetFile): void {
  refuseChanged(target);
  fs.rmSync(target.place);
}

/** Somebody may have written it while the person was looking at our change. */
function refuseChanged({ path, place, found }: TargetFile): void {
  if (isAsFound(place, found)) return;
  throw new Failure(
    `${path} was changed meanwhile, and nothing was done to it`,
    "run the same command again",
  );
}

function isAsFound(place: string, found: FoundFile | null): boolean {
  try {
    const bytes = fs.readFileSync(place);
    return found !== null && bytes.equals(found.bytes);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return found === null;
    throw error;
  }
}
