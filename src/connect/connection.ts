import { join } from "node:path";
import type { Secret } from "../core/secrets/secret.ts";
import { carryOutConnect, carryOutDisconnect } from "./journal/carry-out.ts";
import { planConnect, planDisconnect, type FilePlan } from "./edit/file-plan.ts";
import { readJournal, readJournals } from "./journal/journal.ts";
import type { Plan, Scope } from "../tools/recipe.ts";

export { connectionState, type ConnectionState } from "./journal/connection-state.ts";

/** Which connection: one tool, everywhere or in one project. */
export interface Identity {
  tool: string;
  scope: Scope;
  /** The project's directory, absolute; null for `user`. */
  directory: string | null;
}

/**
 * What becomes of a file.
 * - `created`, `changed`: connecting writes it
 * - `same`: it is already as it shall be
 * - `restored`: disconnecting gives it back byte for byte as it was
 * - `cleared`: it was edited since; our settings go and the edits stay
 * - `removed`: nothing is in it but what connecting wrote, and it was not there before
 * - `gone`: somebody has deleted it; nothing is done
 */
export type FileOutcome = "created" | "changed" | "same" | "restored" | "cleared" | "removed" | "gone";

/** What is to happen to one file. Its texts may hold keys: show them by `renderDiff` only. */
export interface FileChange {
  /** As the tool knows it; it may be a link, which stays one. */
  path: string;
  /** null: there is none. */
  before: string | null;
  /** null: there will be none. */
  after: string | null;
  fate: FileOutcome;
  /** What in its texts is nobody's business; it is blotted wherever they are shown or kept. */
  secrets: readonly Secret[];
  /** Each setting that is written, in words: `env.ANTHROPIC_BASE_URL`, and what it is for. */
  whys: readonly { setting: string; why: string }[];
}

/** A setting which is to be changed, and holds what looks like a real key. */
export interface PresentKey {
  path: string;
  setting: string;
  key: Secret;
}

/**
 * A setting that does not become what it was.
 * - `changed`: the person has changed it since, and it stays as it is now
 * - `was-key`: it held a real key, which was kept nowhere; the setting is left out
 */
export interface Left {
  path: string;
  setting: string;
  reason: "changed" | "was-key";
}

/** A change of files, looked at from all sides and not yet done. */
export interface Prepared {
  identity: Identity;
  changes: readonly FileChange[];
  /** Found where connecting writes, which keeps them nowhere. Empty when disconnecting. */
  keys: readonly PresentKey[];
  /** When connecting: of files that only an earlier connection wrote. */
  left: readonly Left[];
  /** Nothing is to be done to any file. */
  isUnchanged: boolean;
  /** When disconnecting: no setting can be taken out, as each was changed since; the tool may come here still. */
  isAllLeft: boolean;
  /**
   * Does it. Throws a Failure where a file cannot be written, or where it, or the connection, is not any more what it was
   * when this was prepared. Returns the copies that stay of files which are connected no more, and not as they were before.
   */
  carryOut(): readonly KeptBackup[];
}

/** What is known of a connection. */
export interface Connection {
  identity: Identity;
  /** When it was made: ISO 8601. */
  since: string;
  files: readonly ConnectedFile[];
}

export interface ConnectedFile {
  path: string;
  /** Where the file is kept as it was, for people; null where there was none. */
  backup: string | null;
  /** Have keys in the backup been replaced by asterisks? */
  isBlotted: boolean;
}

/** A file that has been disconnected and has a copy. */
export interface KeptBackup extends ConnectedFile {
  backup: string;
}

/**
 * Reads the plan's files and works out what connecting changes in them; a connection that is there already is replaced.
 * Writes nothing. Throws a Failure, with file and line, where a file cannot be understood or changed.
 */
export function prepareConnection(plan: Plan, journalDirectory: string, identity: Identity): Prepared {
  const former = readJournal(journalDirectory, identity);
  const records = former?.files ?? [];
  const wanted = plan.files.map((file) => {
    return planConnect(file, records.find(({ path }) => path === file.path) ?? null, identity.tool);
  });
  const unwanted = records.filter(({ path }) => plan.files.every((file) => file.path !== path));
  const plans = [...wanted, ...unwanted.map(planDisconnect)];
  return prepared(identity, plans, () => carryOutConnect(journalDirectory, identity, former, plans));
}

/** Works out what disconnecting changes; null where there is no such connection. Writes nothing. */
export function prepareDisconnection(journalDirectory: string, identity: Identity): Prepared | null {
  const journal = readJournal(journalDirectory, identity);
  if (journal === null) return null;
  const plans = journal.files.map(planDisconnect);
  return prepared(identity, plans, () => carryOutDisconnect(journalDirectory, journal, plans));
}

/** All connections, in the order of their names. */
export function readConnections(journalDirectory: string): Connection[] {
  return readJournals(journalDirectory).map(({ identity, since, files }) => ({
    identity,
    since,
    files: files.map(({ path, backup }) => ({
      path,
      backup: backup === null ? null : join(journalDirectory, backup.name),
      isBlotted: backup?.isBlotted ?? false,
    })),
  }));
}

function prepared(identity: Identity, plans: readonly FilePlan[], carryOut: Prepared["carryOut"]): Prepared {
  return {
    identity,
    changes: plans.map(({ change }) => change),
    keys: plans.flatMap(({ keys }) => keys),
    left: plans.flatMap(({ left }) => left),
    isUnchanged: plans.every(({ change }) => change.before === change.after),
    isAllLeft: plans.every(isAllLeft),
    carryOut,
  };
}

function isAllLeft({ record, left }: FilePlan): boolean {
  const changed = left.filter(({ reason }) => reason === "changed");
  return record !== null && changed.length === record.undo.written.length;
}
