import fs from "node:fs";
import { join } from "node:path";
import { Failure, hasCode } from "../../core/failure.ts";
import { isObject } from "../../core/json.ts";
import { quoteForShell } from "../../core/text/shell-words.ts";
import type { Scope } from "../../tools/tool.ts";
import { listDirectory } from "../edit/directories.ts";
import { isEqual } from "../edit/key-path.ts";
import { replaceToolFile, toWriteFailure } from "../edit/replace-file.ts";
import { sha256, type UndoRecord } from "../edit/undo-record.ts";

// The journal is JSON on disk: renaming a field of these types makes existing connections unreadable.

/** Identifies a connection: one tool, for the user or in one project. */
export interface ConnectionId {
  tool: string;
  scope: Scope;
  /** The project's directory, absolute; null for the scope `user`. */
  directory: string | null;
}

/** What the journal keeps of one file. */
export interface FileRecord {
  path: string;
  undo: UndoRecord;
  /** How to undo the previous connection, while the file may still be as that left it; otherwise null. */
  earlier: UndoRecord | null;
  /** The directories created for the file, the outermost first. */
  made: readonly string[];
  backup: Backup | null;
}

/** A copy of a file before the change. It is for the user; disconnecting does not need it. */
export interface Backup {
  /** File name, next to the journal. */
  name: string;
  /** True when keys in it were redacted; otherwise it is byte for byte the original file. */
  isBlotted: boolean;
}

/**
 * The state of one connection, kept from before its first file is changed until its last file is restored. Holds what was
 * written and what it replaced, no other part of a file, and no real key.
 */
export interface Journal {
  version: typeof JOURNAL_VERSION;
  identity: ConnectionId;
  /** When the connection was made, in ISO 8601. */
  since: string;
  files: readonly FileRecord[];
}

export const JOURNAL_VERSION = 1;

const EXTENSION = ".json";

const WRITABLE_BY_OTHERS = 0o022;

/** Returns the base name of a connection's state files: `codex.user`, `codex.project-0123456789ab`. */
export function fileStemFor({ tool, scope, directory }: ConnectionId): string {
  if (directory === null) return `${tool}.${scope}`;
  return `${tool}.${scope}-${digestPath(directory)}`;
}

/** Returns a short hash that stands for a path in a file name. */
export function digestPath(path: string): string {
  return sha256(path).slice(0, 12);
}

/** Returns null when there is no such connection. @throws Failure when the journal cannot be read */
export function readJournal(directory: string, id: ConnectionId): Journal | null {
  return readFile(join(directory, fileStemFor(id) + EXTENSION));
}

/** Returns all journals, sorted by file name. @throws Failure when one cannot be read */
export function readJournals(directory: string): Journal[] {
  const names = listDirectory(directory).filter((name) => name.endsWith(EXTENSION));
  return names.sort().flatMap((name) => readFile(join(directory, name)) ?? []);
}

/** Writes a journal atomically, readable by its owner only. @throws Failure */
export function writeJournal(directory: string, journal: Journal, check = () => {}): void {
  const bytes = Buffer.from(`${JSON.stringify(journal, null, 2)}\n`);
  writeStateFile(directory, fileStemFor(journal.identity) + EXTENSION, bytes, check);
}

/** Replaces the journal `former`, or creates one for null. @throws Failure when the journal on disk is another one */
export function replaceJournal(directory: string, former: Journal | null, journal: Journal): void {
  writeJournal(directory, journal, () => requireCurrent(directory, journal.identity, former));
}

/** True while `journal` is the one on disk; null stands for no journal. */
export function isCurrent(directory: string, id: ConnectionId, journal: Journal | null): boolean {
  return isEqual(readJournal(directory, id), journal);
}

/** @throws Failure when another process connected or disconnected the tool since `former` was read */
export function requireCurrent(directory: string, id: ConnectionId, former: Journal | null): void {
  if (isCurrent(directory, id, former)) return;
  throw new Failure(
    `${id.tool} was connected or disconnected in the meantime; nothing was changed`,
    "run the same command again",
  );
}

export function removeJournal(directory: string, id: ConnectionId): void {
  fs.rmSync(join(directory, fileStemFor(id) + EXTENSION), { force: true });
}

/** Writes a file to the journals' directory, which is created when it is missing. @throws Failure */
export function writeStateFile(directory: string, name: string, bytes: Uint8Array, check = () => {}): void {
  const path = join(directory, name);
  try {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    replaceToolFile(path, bytes, { mode: 0o600, owner: null, check });
  } catch (error) {
    throw toWriteFailure(path, path, error);
  }
}

function readFile(path: string): Journal | null {
  try {
    return parseJournal(path, JSON.parse(readOwnFile(path)));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    if (!(error instanceof SyntaxError)) throw error;
    throw damaged(path, error);
  }
}

/** A journal says what to write to other files, so only this user may have written it. */
function readOwnFile(path: string): string {
  const fd = fs.openSync(path, "r");
  try {
    const { uid, mode } = fs.fstatSync(fd);
    const self = process.geteuid?.();
    if (self !== undefined && (uid !== self || (mode & WRITABLE_BY_OTHERS) !== 0)) {
      const inspect = `see who owns it and who can write to it with: ls -l ${quoteForShell(path)}`;
      throw new Failure(`${path} is not used: other users can change it`, inspect);
    }
    return fs.readFileSync(fd, "utf8");
  } finally {
    fs.closeSync(fd);
  }
}

/** Checks only the version and that the file is complete: no other program writes it. */
function parseJournal(path: string, content: unknown): Journal {
  if (!isObject(content)) throw damaged(path);
  const { version, identity, files } = content;
  if (typeof version === "number" && version > JOURNAL_VERSION) {
    throw new Failure(
      `${path} was written by a newer tollkeeper`,
      "use the newer version for this connection",
    );
  }
  if (version !== JOURNAL_VERSION || !isObject(identity) || !Array.isArray(files)) throw damaged(path);
  return content as unknown as Journal;
}

function damaged(path: string, cause?: unknown): Failure {
  const hint = `remove the settings that connect wrote from the tool's files, then type: rm ${quoteForShell(path)}`;
  return new Failure(`${path} is damaged, so the connection cannot be undone`, hint, { cause });
}
