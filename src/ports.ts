import type { Problem } from "./core/config/problem.ts";
import type { Config } from "./core/config/config.ts";
import type { KeyRef } from "./core/secrets/key-source.ts";
import type { ProcessName } from "./core/identity/process-name.ts";
import type { ProcessRecord, UsageRecord } from "./core/ledger/record.ts";
import type { Secret } from "./core/secrets/secret.ts";
import type { TokenEntry } from "./core/identity/token-entry.ts";

/** Where keys are kept. Every method settles within 5 seconds, and rejects with a `KeyFailure` and nothing else. */
export interface KeyStore {
  /** The stored key; `missing` is a failure like the others. */
  read(ref: KeyRef): Promise<Secret>;
}

/** A key store that we may also change: the operating system's keychain. */
export interface WritableKeyStore extends KeyStore {
  write(ref: KeyRef, secret: Secret): Promise<void>;
  /** Resolves to false when there was nothing to remove. */
  remove(ref: KeyRef): Promise<boolean>;
}

/** Where local tokens are registered. */
export interface TokenStore {
  /** Every registered token. Throws a Failure when they cannot be had, or others could have written them. */
  read(): TokenEntry[];
}

/** A token store that we may also change. Rejects with a Failure. */
export interface WritableTokenStore extends TokenStore {
  add(entry: TokenEntry): Promise<void>;
  /** Takes the entries out that are meant, and resolves to them. */
  remove(isMeant: (entry: TokenEntry) => boolean): Promise<TokenEntry[]>;
}

/** What became of the records so far; shown by `status`. */
export interface LedgerHealth {
  directory: string;
  written: number;
  /** Records that wait in memory for the disk to take them again. */
  waiting: number;
  lost: number;
  lastError: string | null;
}

/** Takes one record per request. */
export interface Ledger {
  /** Appends one whole line before it returns. Never throws: what the disk refuses waits, then counts as lost. */
  append(record: UsageRecord): void;
  health(): LedgerHealth;
  close(): void;
}

/** Where records are kept, and for how long. */
export interface LedgerPlace {
  directory: string;
  /** Files of days older than this are deleted. */
  retainDays: number;
}

/** A ledger that can be kept elsewhere from now on. */
export interface MovableLedger extends Ledger {
  /** Records go to `place` from now on, those that wait as well. Throws, and stays where it is, when that cannot be. */
  moveTo(place: LedgerPlace): void;
}

/** In place of a uid: the client's end is closed, and nobody's. */
export const GONE_UID = -1;

/** In place of a uid: another user, and the system does not tell which one. */
export const UNMAPPED_UID = -2;

/** The process at a client's end, as it was when it was found. */
export interface PeerProcess {
  record: ProcessRecord;
  /** What it is called by itself and its parents; null where they say nothing. */
  name: ProcessName | null;
}

/** How a process is to be looked for. */
export interface ProcessQuery {
  /** Is it no more worth the effort, because the connection has ended? */
  isOver(): boolean;
}

/** Who holds the client's end of one connection. */
export interface PeerOwner {
  /** uid of the process, {@link GONE_UID} or {@link UNMAPPED_UID}; null where the system cannot tell. */
  uid: number | null;
  /**
   * Looks for the process; null where it is not found. Evidence and nothing more: it may take any time, so no request
   * waits for it, and it never rejects.
   */
  findProcess(query: ProcessQuery): Promise<PeerProcess | null>;
  /** The directory that a process works on; null where it cannot be told, or not soon. Evidence, too. */
  findProject(pid: number): Promise<string | null>;
}

/** Who is on the other end of a loopback connection, by what the operating system tells. */
export interface PeerInfo {
  lookUp(
    client: { address: string; port: number },
    server: { address: string; port: number },
  ): Promise<PeerOwner>;
}

/** Time, so that tests can hold it still. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never jumps. */
  monotonic(): number;
}

/** The daemon's own log: short sentences and named facts; never headers, bodies, queries or key values. */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** The service manager that started the daemon, where it wants to know how that is. Nothing here ever throws. */
export interface ServiceNotifier {
  /** The daemon serves. `status` is one line for people, here and below. */
  ready(status: string): void;
  status(status: string): void;
  /** It stops, and may need `limitMs` milliseconds for it. */
  stopping(status: string, limitMs: number): void;
  close(): void;
}

/** What became of the configuration file; shown by `status`. */
export interface ConfigStatus {
  path: string;
  exists: boolean;
  /** When the configuration in force was accepted; ISO 8601, UTC. */
  loadedAt: string;
  /** When the newest file was read and judged; ISO 8601, UTC. */
  judgedAt: string;
  /** What is wrong with the newest file; empty when it was accepted. */
  problems: Problem[];
}

/** The configuration in force, and word of every change to it. */
export interface ConfigSource {
  current(): Config;
  status(): ConfigStatus;
  /** Reads the file now; resolves when it has been judged. Never rejects: a bad file changes nothing. */
  reload(): Promise<void>;
  /**
   * Calls the one listener with every good configuration that differs from the one in force, one after another. What it
   * finds in the way of the new one refuses that, like the problems of a bad file; with nothing it is accepted.
   */
  onChange(listener: (config: Config) => Promise<Problem[]>): void;
  /**
   * Calls with the problems of a file that was not accepted, once for each list of problems; with none when the file says
   * again what is in force.
   */
  onProblems(listener: (problems: Problem[]) => void): void;
  close(): Promise<void>;
}
