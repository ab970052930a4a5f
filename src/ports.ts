import type { BudgetRequest } from "./core/budget/budget-request.ts";
import type { ReservedTokens } from "./core/budget/kept-reservation.ts";
import type { Problem } from "./core/config/problem.ts";
import type { HeaderIndex } from "./core/http/header-index.ts";
import type { JsonObject } from "./core/json.ts";
import type { Choice } from "./core/decide/choose-upstream.ts";
import type { Config } from "./core/config/config.ts";
import type { Brake } from "./core/policy/brake.ts";
import type { Refusal } from "./core/refusals/refusal.ts";
import type { KeyRef } from "./core/secrets/key-source.ts";
import type { ProcessName } from "./core/identity/process-name.ts";
import type { Creator } from "./core/decide/creator.ts";
import type { LedgerCursor } from "./core/ledger/after/cursor.ts";
import type { ProcessRecord, UsageRecord } from "./core/ledger/record.ts";
import type { Secret } from "./core/secrets/secret.ts";
import type { TokenEntry } from "./core/identity/token-entry.ts";

/** A store of keys. Every method settles within 5 seconds, or the limit that a key command has, and rejects only with a `KeyFailure`. */
export interface KeyStore {
  /** Resolves to the stored key. A key that is not stored is also a failure (`missing`). */
  read(ref: KeyRef): Promise<Secret>;
}

/** What identifies a stored key. */
export interface StoredKey {
  name: string;
  /** The one upstream origin that it is sent to. */
  origin: string;
}

/** A key store that the program can also change: the operating system's keychain. */
export interface WritableKeyStore extends KeyStore {
  write(ref: KeyRef, secret: Secret): Promise<void>;
  /** Resolves to false when there was no such key. */
  remove(ref: KeyRef): Promise<boolean>;
  /** Resolves to every key that the program has stored, without its value. */
  list(): Promise<StoredKey[]>;
}

/** A store of registered local tokens. */
export interface TokenStore {
  /** Returns every registered token. Throws a Failure when the store cannot be read, or others could have written it. */
  read(): TokenEntry[];
}

/** A token store that the program can also change. Its methods reject with a Failure. */
export interface WritableTokenStore extends TokenStore {
  add(entry: TokenEntry): Promise<void>;
  /** Removes the entries that match and resolves to them. */
  remove(isMatch: (entry: TokenEntry) => boolean): Promise<TokenEntry[]>;
}

/** How many records were written, wait or were lost since the daemon started; shown by `status`. */
export interface LedgerHealth {
  directory: string;
  written: number;
  /** Records in memory, to be written when the disk accepts them again. */
  waiting: number;
  lost: number;
  lastError: string | null;
}

/** Stores one usage record per request: `openLedger` in files, and `RecordFeed.publishing` before it, for those who follow the records. */
export interface Ledger {
  /** Writes the records before it returns. Never throws: what cannot be written waits for a retry, and is lost if too much waits. */
  append(records: readonly UsageRecord[]): void;
  /**
   * Notes the records of exchanges under way as they would be after a crash now, in place of their earlier notes. Appending the
   * record of the same id removes a note; a note that is left becomes the record at the next start. Never throws: returns
   * false when they could not be written.
   */
  note(records: readonly UsageRecord[]): boolean;
  /** As {@link Ledger.note}, for one exchange whose request has not been sent yet. */
  noteUnsent(record: UsageRecord): boolean;
  health(): LedgerHealth;
  close(): void;
}

/** Where records are kept, and for how long. */
export interface LedgerLocation {
  directory: string;
  /** Records of days older than this are deleted; their sums stay. */
  retainDays: number;
}

/** What a ledger has at one moment. */
export interface LedgerMark {
  directory: string;
  /** After the last whole line of each day. */
  cursor: LedgerCursor;
  /** Records of this process that are in no file yet. */
  waiting: readonly UsageRecord[];
  /** How many bytes of each file are not by this process. */
  others: ReadonlyMap<string, number>;
}

/** A ledger that can move to another directory while it is open, and be followed (docs/architecture.md section 4). */
export interface MovableLedger extends Ledger {
  /**
   * Returns what it has at this moment: what is appended from now on is not in it, and everything that was appended before is. Throws when
   * the files cannot be read.
   */
  mark(): LedgerMark;
  /** True if anything but this process has changed a file of these days or later since a mark. `from` is a day, `YYYY-MM-DD`. Throws likewise. */
  hasOthers(mark: LedgerMark, from: string): boolean;
  /** Writes to `location` from now on, pending records included. Throws, and stays where it is, when that is impossible. */
  moveTo(location: LedgerLocation): void;
}

/** What a running request holds: what budgets hold back for it, and its place among those that brakes count. */
export interface RequestHold {
  /** How much is spent of the budget of which the most is, in percent; null where none is for the request. */
  readonly percent: number | null;
  /** What of it the record keeps while the usage is not known, in tokens; null where no budget is for the request. */
  readonly reserved: ReservedTokens | null;
  /** Ends it. Call it when `record` has been appended; null where nothing was done. A second time it does nothing. */
  release(record: UsageRecord | null): void;
}

/** Judges requests by the budgets of the configuration. */
export interface Budgets {
  /** Resolves when it is known what was spent before; null when it is. Never rejects. */
  readonly counting: Promise<void> | null;
  /** Returns why a request is refused; null for one that may go. Changes nothing. Not for requests that never spend. */
  judge(request: BudgetRequest): Refusal | null;
  /** Holds back what a request may spend that was judged in the same turn of the event loop, and may go. */
  hold(request: BudgetRequest): RequestHold;
}

/** Knows who created stored objects, by their ids. */
export interface Creators {
  /** Returns who created an object; null if that is not known, and undefined if it has to be looked for. Changes nothing. */
  find(id: string): Creator | null | undefined;
  /** Looks for it. Resolves once {@link Creators.find} has an answer, which may be null. Never rejects. */
  look(id: string): Promise<void>;
}

/** What a person has paused. */
export interface Pauses {
  /** True while a tool is paused by name. */
  readonly namesTools: boolean;
  /** Returns the refusal of any request of a paused tool; null for a tool that may go on. */
  judge(tool: string, config: Config): Refusal | null;
}

/** Takes in what upstreams say of how much of an account's limits is used, and judges requests by it. Never throws. */
export interface Limits {
  /** Returns the refusal of a request for which a brake keeps what is left of the account that would pay for it; null for one that may go. */
  judge(brakes: readonly Brake[], from: Pick<Choice, "upstream" | "key">): Refusal | null;
  /** A response has come from there. */
  sawResponse(from: Pick<Choice, "upstream" | "key">, status: number, headers: HeaderIndex): void;
  /** An event about limits has come on a WebSocket. */
  sawEvent(from: Pick<Choice, "upstream" | "key">, fields: JsonObject): void;
}

/** What is known of a request when a copy of it begins. */
export interface TappedRequest {
  tool: string;
  /** True while a process that is being looked for could still name another tool. */
  isProvisional: boolean;
  /** False if the system says that another user sent it. */
  isOfOwner: boolean;
  method: string;
  /** Of the upstream. */
  origin: string;
  /** The path at the upstream, with its query. */
  path: string;
  /** For a message on a WebSocket: those of the handshake. */
  headers: HeaderIndex;
}

/** Takes a copy of one exchange as it passes. Never throws, and changes no byte. */
export interface Tap {
  sawRequestBytes(bytes: Buffer): void;
  /** `headers`: flat, as received; empty for a response on a WebSocket. */
  sawResponse(headers: readonly string[]): void;
  sawResponseBytes(bytes: Buffer): void;
  /** It has ended, and this is its record. */
  end(record: UsageRecord): void;
}

/** Copies requests and responses while a person has asked for that. */
export interface Captures {
  /** False nearly always, and then nothing else is called. */
  readonly isOn: boolean;
  /** Returns what takes a copy of a request; null for one that is not to be copied. `before`: that of the attempt whose body is sent again. */
  open(request: TappedRequest, before: Tap | null): Tap | null;
}

/** Used instead of a uid: no process holds the client's socket any more. */
export const GONE_UID = -1;

/** Used instead of a uid: the client belongs to another user, whose uid is not mapped into the daemon's user namespace. */
export const UNMAPPED_UID = -2;

/** The process that holds a client's socket, as it was when it was found. */
export interface PeerProcess {
  record: ProcessRecord;
  /** The tool or program that the process and its parents identify; null when they identify none, or before that is known. */
  name: ProcessName | null;
}

/** Options of one search for a process. */
export interface ProcessQuery {
  /** True once the connection has ended, so that the search can stop. */
  isOver(): boolean;
}

/** The owner of the client's end of one connection. */
export interface PeerOwner {
  /** The process's uid, {@link GONE_UID} or {@link UNMAPPED_UID}; null where the system does not report it. */
  uid: number | null;
  /** Resolves to the process, or to null; never rejects. No request waits for it: it may take long. Evidence, not proof. */
  findProcess(query: ProcessQuery): Promise<PeerProcess | null>;
  /** Resolves to a process's project directory, or to null when it is not determined in time. Evidence, not proof. */
  findProject(pid: number): Promise<string | null>;
  /** Resolves to the branch that is checked out at a project's root, as git-branch.ts describes; else to null. Never rejects. */
  readBranch(root: string): Promise<string | null>;
  /** Returns the process if it was found before, for this connection or for another, while `findProcess` is still looking. */
  recallProcess(): PeerProcess | null;
  /** Returns what `findProject` has determined before for the process's present directory; otherwise null. */
  recallProject(pid: number): string | null;
}

/** Finds the client of a loopback connection with the means of the operating system. */
export interface PeerInfo {
  lookUp(
    client: { address: string; port: number },
    server: { address: string; port: number },
  ): Promise<PeerOwner>;
}

/** The current time, as an interface so that tests can control it. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a monotonic clock. */
  monotonic(): number;
}

/** The same, and one that goes on while the machine sleeps and cannot be set. */
export interface MachineClock extends Clock {
  /** Milliseconds since the machine's start, to a second. */
  sinceBoot(): number;
}

/** What a warning or an error is about, if the daemon's own state shows when it is resolved. */
export type LogSubject = "configuration" | "keys" | "tokens" | "ledger" | "export";

/** Facts of a warning or an error. `about` is not written; with it, `status` drops the message once it is resolved. */
interface ProblemFacts {
  about?: LogSubject | null;
  [name: string]: unknown;
}

/** The daemon's log: short messages and named facts; never headers, bodies, queries or key values. */
export interface Log {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: ProblemFacts, message: string): void;
  error(facts: ProblemFacts, message: string): void;
}

/** Reports the daemon's state to the service manager that started it, if there is one. No method throws. */
export interface ServiceNotifier {
  /** The daemon accepts connections. `status` is one line for people, here and below. */
  ready(status: string): void;
  status(status: string): void;
  /** The daemon is stopping, which may take up to `limitMs` milliseconds. */
  stopping(status: string, limitMs: number): void;
  close(): void;
}

/** The state of the configuration files; shown by `status`. */
export interface ConfigStatus {
  /** The user's own file. */
  path: string;
  exists: boolean;
  /** The managed file below it, and the paths that it locks; null when there is none in force. */
  managed: { path: string; locked: string[] } | null;
  /** When the configuration in force was accepted; ISO 8601, UTC. */
  loadedAt: string;
  /** When the file was last read and checked; ISO 8601, UTC. */
  judgedAt: string;
  /** What is wrong with the files as they were last read; empty when they were accepted. */
  problems: Problem[];
  /** Values of the user's file that are not in force, because the managed file locks them or what they refer to. */
  overruled: Problem[];
}

/** The configuration in force, and notification of every change. */
export interface ConfigSource {
  current(): Config;
  status(): ConfigStatus;
  /** Reads the file now and resolves when that is done. Never rejects: an invalid file changes nothing. */
  reload(): Promise<void>;
  /**
   * Sets the one listener for every valid configuration that differs from the one in force, called one at a time. It takes
   * effect when the listener resolves to an empty list; problems reject it, like those of an invalid file.
   */
  onChange(listener: (config: Config) => Promise<Problem[]>): void;
  /** Adds a listener for each new list of problems in the file; an empty list means that the file is in force again. */
  onProblems(listener: (problems: Problem[]) => void): void;
  /** Sets the one listener for each new list of overruled values; an empty list means that none is overruled any more. */
  onOverruled(listener: (overruled: Problem[]) => void): void;
  close(): Promise<void>;
}
