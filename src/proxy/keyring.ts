import { KeyFailure } from "../core/failure.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { Clock, KeyStore, Log } from "../ports.ts";

/** After an upstream's 401 the stored key is read again at most this often, whatever the upstream keeps saying. */
const RECHECK_INTERVAL_MS = 10_000;

/** What is known of one key; never its value. For `status`. */
export interface KeyState {
  ref: KeyRef;
  state: "present" | KeyFailure["code"];
  /** What the owner of the key may read of it, and clients not; null while the key is there. */
  problem: string | null;
  /** When this was learned; milliseconds since 1970. */
  at: number;
}

interface Entry {
  secret: Secret | null;
  pending: Promise<Secret> | null;
  recheckedAt: number;
  /** What the latest read found; null before the first one has ended. */
  known: KeyState | null;
}

/**
 * The keys in the daemon's memory: read from the store on first need, kept until someone says that they changed.
 * Failures are not kept, so a keychain that is unlocked later works with the next request.
 */
export class Keyring {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  /** The same entries once more, by the object that asked: a configuration asks with the same one each time. */
  #known = new WeakMap<KeyRef, Entry>();
  /** Counts `forget` calls, so that a read which began before one is not kept after it. */
  #generation = 0;

  constructor(store: KeyStore, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** The key when it is in memory already: the hot path, without a promise. */
  cached(ref: KeyRef): Secret | null {
    return this.#entry(ref).secret;
  }

  /** The key from memory or from the store; concurrent callers share one read. Rejects with a `KeyFailure`. */
  async get(ref: KeyRef): Promise<Secret> {
    const entry = this.#entry(ref);
    if (entry.secret !== null) return entry.secret;
    entry.pending ??= this.#read(ref, entry);
    return entry.pending;
  }

  /** Drops every key: each is read anew on its next use. */
  forget(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#known = new WeakMap();
  }

  /**
   * The upstream answered 401 to `used`: reads the store once more, in case the key was replaced there. The request
   * itself is not repeated; clients do that by themselves.
   */
  recheck(ref: KeyRef, used: Secret): void {
    const entry = this.#entry(ref);
    const now = this.#clock.monotonic();
    if (now - entry.recheckedAt < RECHECK_INTERVAL_MS || entry.pending !== null) return;
    entry.recheckedAt = now;
    const generation = this.#generation;
    this.#store.read(ref).then(
      (stored) => {
        if (generation !== this.#generation || stored.isSameAs(used)) return;
        entry.secret = stored;
        this.#log.info(
          { key: ref.name, origin: ref.origin },
          "the stored key had changed; using the new one",
        );
      },
      () => {
        // The old key stays: a keychain that is locked now says nothing about it.
      },
    );
  }

  /** What was found of each key that was asked for. */
  states(): KeyState[] {
    return [...this.#entries.values()].flatMap((entry) => entry.known ?? []);
  }

  async #read(ref: KeyRef, entry: Entry): Promise<Secret> {
    const generation = this.#generation;
    try {
      const secret = await this.#store.read(ref);
      if (generation === this.#generation) entry.secret = secret;
      entry.known = { ref, state: "present", problem: null, at: this.#clock.now() };
      return secret;
    } catch (error) {
      const [state, problem] = judge(error);
      entry.known = { ref, state, problem, at: this.#clock.now() };
      throw error;
    } finally {
      entry.pending = null;
    }
  }

  /** To write out what identifies a key takes 0.5 µs, which requests need not pay. */
  #entry(ref: KeyRef): Entry {
    const known = this.#known.get(ref);
    if (known !== undefined) return known;
    const id = idOf(ref);
    const entry = this.#entries.get(id) ?? newEntry();
    this.#entries.set(id, entry);
    this.#known.set(ref, entry);
    return entry;
  }
}

function newEntry(): Entry {
  return { secret: null, pending: null, recheckedAt: -RECHECK_INTERVAL_MS, known: null };
}

/** A store rejects with nothing else than a KeyFailure; where one does, its bug must not be the daemon's. */
function judge(error: unknown): [KeyFailure["code"], string] {
  if (error instanceof KeyFailure) return [error.code, error.messageForOwner];
  return ["unavailable", String(error)];
}

/** The whole source is part of it: a configuration that names another file must not get the key of the old one. */
function idOf(ref: KeyRef): string {
  return JSON.stringify(ref);
}
