import { createHash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { Failure } from "../../core/failure.ts";
import { hasCode } from "../../core/thrown.ts";
import type { Undo } from "../edit/apply.ts";
import type { Identity } from "../connection.ts";
import { namesIn } from "../edit/directories.ts";
import { writeTrouble } from "../edit/file-trouble.ts";
import { isObject, isSame } from "../edit/setting-path.ts";
import { replaceFile } from "../edit/replace-file.ts";

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
  return `${tool}.${scope}-${digestOf(directory)}`;
}

/** Stands for a path in a file's name. */
export function digestOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
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

/** Whole or not at all, and for nobody else to read. @throws Failure */
export function writeJournal(directory: string, journal: Journal): void {
  putJournal(directory, journal, () => {});
}

/** Puts a journal in the place of `former`; null: of none. @throws Failure where that is not there any more */
export function replaceJournal(directory: string, former: Journal | null, journal: Journal): void {
  putJournal(directory, journal, () => refuseOther(directory, journal.identity, former));
}

/** Is it what stands there? null: nothing does. */
export function isCurrent(directory: string, identity: Identity, journal: Journal | null): boolean {
  return isSame(readJournal(directory, identity), journal);
}

/** Somebody may connect or disconnect the same tool while the person is looking at our change. @throws Failure */
export function refuseOther(directory: string, identity: Identity, former: Journal | null): void {
  if (isCurrent(directory, identity, former)) return;
  throw new Failure(
    `${identity.tool} was connected or disconnected meanwhile, and nothing was changed`,
    "run the same command again",
  );
}

export function removeJournal(directory: string, identity: Identity): void {
  fs.rmSync(join(directory, nameOf(identity) + ENDING), { force: true });
}

/** Puts a file into the journals' directory, which is made where it is missing. @throws Failure */
export function writeBeside(directory: string, name: string, bytes: Uint8Array, check = () => {}): void {
  const path = join(directory, name);
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    replaceFile(path, { bytes, mode: 0o600, owner: null, check });
  } catch (error) {
    throw writeTrouble(path, path, error);
  }
}

function putJournal(directory: string, journal: Journal, check: () => void): void {
  const bytes = Buffer.from(`${JSON.stringify(journal, null, 2)}\n`);
  writeBeside(directory, nameOf(journal.identity) + ENDING, bytes, check);
}

function readFile(path: string): Journal | null {
  try {
    return checked(path, JSON.parse(fs.readFileSync(path, "utf8")));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    if (!(error instanceof SyntaxError)) throw error;
    throw damaged(path, error);
  }
}

/** What we wrote ourselves is as we wrote it, if it is there as a whole and of our version. */
function checked(path: string, content: unknown): Journal {
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
