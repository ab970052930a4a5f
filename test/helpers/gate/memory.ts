import { UNKNOWN_OWNER } from "../../../src/adapters/peer/unknown-owner.ts";
import { KeyFailure, type Failure } from "../../../src/core/failure.ts";
import type { KeyRef } from "../../../src/core/secrets/key-source.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import type { TokenEntry } from "../../../src/core/identity/token-entry.ts";
import { hashToken, mintToken } from "../../../src/proxy/client/token-hash.ts";
import type { MachineClock, KeyStore, Log, MovableLedger, TokenStore, PeerInfo } from "../../../src/ports.ts";
import { withResolvers } from "../async/with-resolvers.ts";

/** An in-memory ledger. Tests can wait for its records. */
export class MemoryLedger implements MovableLedger {
  readonly records: UsageRecord[] = [];
  /** Every note that was taken, oldest first. */
  readonly notes: UsageRecord[] = [];
  /** Those of them that were taken before the request was sent. */
  readonly unsent: UsageRecord[] = [];
  /** When true, it takes no notes. */
  isRefusingNotes = false;
  #waiting: (() => void)[] = [];

  append(records: readonly UsageRecord[]): void {
    this.records.push(...records);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  note(records: readonly UsageRecord[]): boolean {
    if (this.isRefusingNotes) return false;
    this.notes.push(...structuredClone(records));
    return true;
  }

  noteUnsent(record: UsageRecord): boolean {
    if (this.isRefusingNotes) return false;
    this.unsent.push(structuredClone(record));
    return true;
  }

  /** Resolves with the first `count` records once they are written. */
  async first(count: number): Promise<UsageRecord[]> {
    while (this.records.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.records.slice(0, count);
  }

  /** Resolves with the only record once it is written; rejects when there are more. */
  async only(): Promise<UsageRecord> {
    const [record] = await this.first(1);
    if (record === undefined || this.records.length > 1) throw new Error(`${this.records.length} records`);
    return record;
  }

  health() {
    return { directory: "memory", written: this.records.length, waiting: 0, lost: 0, lastError: null };
  }

  mark() {
    return { directory: "memory", cursor: { days: {}, since: null }, waiting: [], others: new Map() };
  }

  hasOthers(): boolean {
    return false;
  }

  moveTo(): void {}

  close(): void {}
}

/** An in-memory key store: `NAME@ORIGIN` → value. Counts its reads. */
export class MemoryKeys implements KeyStore {
  readonly values = new Map<string, string>();
  reads = 0;
  /** When set, every read throws it. */
  failure: KeyFailure | null = null;
  #beforeRead: (() => Promise<void>) | null = null;

  set(ref: Pick<KeyRef, "name" | "origin">, value: string): void {
    this.values.set(`${ref.name}@${ref.origin}`, value);
  }

  /** Makes reads wait: `started` resolves when the next one begins, `release` lets all of them continue. */
  hold(): { started: Promise<void>; release: () => void } {
    const started = withResolvers<void>();
    const released = withResolvers<void>();
    this.#beforeRead = () => {
      started.resolve();
      return released.promise;
    };
    return { started: started.promise, release: released.resolve };
  }

  async read(ref: KeyRef): Promise<Secret> {
    this.reads += 1;
    if (this.#beforeRead !== null) await this.#beforeRead();
    if (this.failure !== null) throw this.failure;
    const value = this.values.get(`${ref.name}@${ref.origin}`);
    if (value !== undefined) return new Secret(value);
    const command = `tollkeeper ${ref.setArguments}`;
    const message = `no key ${ref.name} is stored for ${ref.origin}`;
    throw new KeyFailure("missing", message, { hint: `store it: ${command}`, command });
  }
}

/** Keeps every line for tests to search. */
export class MemoryLog implements Log {
  readonly lines: string[] = [];
  readonly facts: object[] = [];

  #keep(level: string, facts: object, message: string): void {
    this.facts.push(facts);
    this.lines.push(`${level} ${message} ${JSON.stringify(facts)}`);
  }
  debug(facts: object, message: string): void {
    this.#keep("debug", facts, message);
  }
  info(facts: object, message: string): void {
    this.#keep("info", facts, message);
  }
  warn(facts: object, message: string): void {
    this.#keep("warn", facts, message);
  }
  error(facts: object, message: string): void {
    this.#keep("error", facts, message);
  }
}

/** An in-memory token store. */
export class MemoryTokens implements TokenStore {
  entries: TokenEntry[] = [];
  /** When set, every read throws it. */
  failure: Failure | null = null;

  /** Adds a new token for a tool. It is valid once the store is read again. */
  add(tool: string): string {
    const token = mintToken(tool);
    const hash = hashToken(token).toString("hex");
    this.entries.push({
      id: hash.slice(0, 8),
      tool,
      hash,
      createdAt: "2026-11-21T12:00:00.000Z",
      note: null,
    });
    return token;
  }

  read(): TokenEntry[] {
    if (this.failure !== null) throw this.failure;
    return this.entries;
  }
}

/** A clock that only moves when the test advances it. */
export class ManualClock implements MachineClock {
  wallMs = Date.UTC(2026, 10, 21, 12);
  tickMs = 0;
  /** While the machine slept. */
  #asleepMs = 0;

  now(): number {
    return this.wallMs;
  }
  monotonic(): number {
    return this.tickMs;
  }
  sinceBoot(): number {
    return this.tickMs + this.#asleepMs;
  }
  advance(ms: number): void {
    this.wallMs += ms;
    this.tickMs += ms;
  }
  /** The machine sleeps, and the monotonic clock stands still. */
  sleep(ms: number): void {
    this.wallMs += ms;
    this.#asleepMs += ms;
  }
}

export const realClock: MachineClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sinceBoot: () => performance.now(),
};

/** A clock on which 50 ms pass with each reading: a connection that has just become idle has rested (SECURITY.md C7). */
export function hastyClock(): MachineClock {
  let tickMs = 0;
  return { now: () => Date.now(), monotonic: () => (tickMs += 50), sinceBoot: () => tickMs };
}

/** Reports `uid` as the owner of every peer, and no process or project. */
export function peersOf(uid: number | null): PeerInfo {
  return { lookUp: () => Promise.resolve({ ...UNKNOWN_OWNER, uid }) };
}
