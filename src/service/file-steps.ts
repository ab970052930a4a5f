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
export type FileStep = Extract<Step, { kind: "write" | "make-directory" | "remove" }>;

/** Does it. Throws a Failure when it cannot be done. @returns what was done, one word; null when nothing was to do */
export function doFileStep(step: FileStep): string | null {
  try {
    return change(step);
  } catch (error) {
    const why = messageOf(error);
    const message = `cannot ${step.kind.replace("-", " ")} ${step.path}: ${why}`;
    throw new Failure(message, `look at it with: ls -ld ${dirname(step.path)}`, { cause: error });
  }
}

function change(step: FileStep): string | null {
  switch (step.kind) {
    case "write":
      return writeWhole(step.path, step.text, step.mode) ? "wrote" : null;
    case "make-directory":
      return mkdirSync(step.path, { recursive: true, mode: step.mode }) === undefined ? null : "made";
    case "remove":
      return remove(step.path) ? "removed" : null;
  }
}

/** Whoever reads the file meanwhile gets the old one or the new one, whole. */
function writeWhole(path: string, text: string, mode: number): boolean {
  if (contentOf(path) === text) return false;
  const beside = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(beside, text, { flag: "wx", mode });
    // The person's umask may have taken bits away.
    chmodSync(beside, mode);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
  return true;
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // There is none, or none that can be kept.
    return null;
  }
}

function remove(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  // A link to a directory is somebody's own: programs that keep people's settings elsewhere make them.
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

/** Where the path leads in the end. */
function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
