import { randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../core/failure.ts";
import { hasCode, messageOf } from "../core/thrown.ts";
import type { Step } from "./service-manager.ts";

/** A step that changes the file system. */
type FileStep = Extract<Step, { kind: "write" | "make-directory" | "remove" }>;

/**
 * Applies one step.
 * @returns what was done, as a verb in the past tense; null when there was nothing to do
 * @throws Failure when the file system refuses it
 */
export function applyFileStep(step: FileStep): string | null {
  try {
    return apply(step);
  } catch (error) {
    const message = `cannot ${step.kind.replace("-", " ")} ${step.path}: ${messageOf(error)}`;
    throw new Failure(message, `look at it with: ls -ld ${dirname(step.path)}`, { cause: error });
  }
}

function apply(step: FileStep): string | null {
  switch (step.kind) {
    case "write":
      return replaceFile(step.path, step.text, step.mode) ? "wrote" : null;
    case "make-directory":
      return mkdirSync(step.path, { recursive: true, mode: step.mode }) === undefined ? null : "made";
    case "remove":
      return remove(step.path) ? "removed" : null;
  }
}

/** Replaces a file atomically: a concurrent reader sees the old contents or the new. Returns false when unchanged. */
function replaceFile(path: string, text: string, mode: number): boolean {
  if (contentsOf(path) === text) return false;
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(temporary, text, { flag: "wx", mode });
    // The umask may have cleared bits.
    chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return true;
}

/** Returns null when the file is missing or unreadable: either way it has to be written. */
function contentsOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function remove(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // Dotfile managers link directories. Such a link belongs to the user.
  if (found === undefined || (found.isSymbolicLink() && isDirectory(path))) return false;
  if (!found.isDirectory()) {
    rmSync(path);
    return true;
  }
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOTEMPTY")) return false;
    throw error;
  }
}

/** Follows symbolic links. */
function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
