import fs from "node:fs";
import { Failure } from "../../core/failure.ts";
import { hasCode } from "../../core/thrown.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import { makeDirectory, removeEmptyDirectories } from "./directories.ts";
import { replaceFile, toWriteFailure } from "./replace-file.ts";
import type { ExistingFile, TargetFile } from "./target-file.ts";

const NEW_FILE = 0o600;
const OWNER_WRITES = 0o200;

/**
 * Checks that a file may be replaced.
 * @throws Failure for another user's file, for a read-only one, and for one with hard links, which would keep the old text
 */
export function requireWritable({ path, realPath, existing }: TargetFile): void {
  if (existing === null) return;
  const { uid, mode, nlink } = existing.stats;
  const self = process.getuid?.();
  if (self !== undefined && self !== 0 && uid !== self) {
    throw new Failure(
      `${path} belongs to another user`,
      `make it yours: sudo chown ${self} ${quoteForShell(realPath)}`,
    );
  }
  if ((mode & OWNER_WRITES) === 0) {
    throw new Failure(`${path} is read-only`, `if it may be changed: chmod u+w ${quoteForShell(realPath)}`);
  }
  if (nlink > 1) {
    const [file, copy] = [realPath, `${realPath}.new`].map((name) => quoteForShell(name));
    throw new Failure(
      `${path} has other names (hard links), which would keep the old text`,
      `make it one file: cp -p ${file} ${copy} && mv ${copy} ${file}`,
    );
  }
}

/**
 * Writes a file's new text, or removes the file for null. Keeps mode and owner; only the owner can access a new file and
 * the directories created for it.
 * @throws Failure, with nothing changed, when the file cannot be written or is no longer what was read
 */
export function writeTarget(target: TargetFile, text: string | null): void {
  requireWritable(target);
  const { realPath, existing } = target;
  const created: string[] = [];
  try {
    // Another file of the same connection may have created a directory in the meantime.
    for (const directory of target.missingDirectories) if (makeDirectory(directory)) created.push(directory);
    if (text === null) return removeFile(target);
    const mode = existing === null ? NEW_FILE : existing.stats.mode & 0o7777;
    replaceFile(realPath, {
      bytes: Buffer.from(text),
      mode,
      owner: existing?.stats ?? null,
      check: () => requireUnchanged(target),
    });
  } catch (error) {
    removeEmptyDirectories(created);
    throw toWriteFailure(target.path, realPath, error);
  }
}

function removeFile(target: TargetFile): void {
  requireUnchanged(target);
  fs.rmSync(target.realPath);
}

/** The tool or a person may have written the file while the change was under review. */
function requireUnchanged({ path, realPath, existing }: TargetFile): void {
  if (isUnchanged(realPath, existing)) return;
  throw new Failure(
    `${path} was changed meanwhile, and nothing was done to it`,
    "run the same command again",
  );
}

function isUnchanged(realPath: string, existing: ExistingFile | null): boolean {
  try {
    const bytes = fs.readFileSync(realPath);
    return existing !== null && bytes.equals(existing.bytes);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return existing === null;
    throw error;
  }
}
