import { createHash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { Failure } from "../core/failure.ts";
import { hasCode } from "../core/thrown.ts";
import type { Undo } from "./apply.ts";
import type { Identity } from "./connection.ts";
import { isObject } from "./places.ts";
import { replaceFile } from "./replace-file.ts";

/** What is written down of one file. */
export interface FileRecord {
  path: string;
  undo: Undo;
  /** How the connection before this one is undone: the file may still be as that left it. null once it is not. */
  earlier: Undo | null;
  /** Directories that were made for it, the outermost first. */
  made: readonly string[];
  backup: Backup | null;
}

/** A copy of a file as it was, for people; disconnecting does not need it. */
export interface Backup {
  /** Beside the journal. */
  name: string;
  /** Have keys in it been replaced by asterisks? Otherwise it is byte for byte what the file was. */
  isBlotted: boolean;
}

/**
 * What is kept of a connection, from before the first of its files is changed until the last is restored. Holds what was
 * written and what that replaced, no other part of a file, and no real key.
 */
export interface Journal {
  version: typeof VERSION;
  identity: Identity;
  /** When the connection was made: ISO 8601. */
  since: string;
  files: readonly FileRecord[];
}

export const VERSION = 1;

const ENDING = ".json";

/** What a connection's files are called, without an ending: `codex.user`, `codex.project-0123456789ab`. */
export function nameOf({ tool, scope, directory }: Identity): string {
  if (directory === null) return `${tool}.${scope}`;
  return `${tool}.${scope}-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`;
}

/** null where there is no such connection. @throws Failure where the journal cannot be read */
export function readJournal(directory: string, identity: Identity): Journal | null {
  return readFile(join(directory, nameOf(identity) + ENDING));
}

/** All of them, in the order of their names. */
export function readJournals(directory: string): Journal[] {
  const names = namesIn(directory).filter((name) => name.endsWith(ENDING));
  return names.sort().flatMap((name) => readFile(join(directory, name)) ?? []);
}

/** Whole or not at all, and for nobody else to read. */
export function writeJournal(directory: string, journal: Journal): void {
  const bytes = Buffer.from(`${JSON.stringify(journal, null, 2)}\n`);
  writeBeside(directory, nameOf(journal.identity) + ENDING, bytes);
}

export function removeJournal(directory: string, identity: Identity): void {
  fs.rmSync(join(directory, nameOf(identity) + ENDING), { force: true });
}

/** Puts a file into the journals' directory, which is made where it is missing. */
export function writeBeside(directory: string, name: string, bytes: Uint8Array): void {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  replaceFile(join(directory, name), { bytes, mode: 0o600, owner: null, check: () => {} });
}

function namesIn(directory: string): string[] {
  try {
    return fs.readdirSync(directory);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

function readFile(path: string): Journal | null {
  try {
    return check(path, JSON.parse(fs.readFileSync(path, "utf8")));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    if (!(error instanceof SyntaxError)) throw error;
    throw damaged(path, error);
  }
}

/** What we wrote ourselves is as we wrote it, if it is there as a whole and of our version. */
function check(path: string, content: unknown): Journal {
  if (!isObject(content)) throw damaged(path);
  const { version, identity, files } = content;
  if (typeof version === "number" && version > VERSION) {
    throw new Failure(`${path} was written by a newer tollkeeper`, "use that one for this connection");
  }
  if (version !== VERSION || !isObject(identity) || !Array.isArray(files)) throw damaged(path);
  return content as unknown as Journal;
}

function damaged(path: string, cause?: unknown): Failure {
  const hint = `take what connecting wrote out by hand, then remove it: rm '${path}'`;
  return new Failure(`${path} is damaged, and the connection cannot be undone by it`, hint, { cause });
}
