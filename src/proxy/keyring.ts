import { KeyFailure } from "../core/failure.ts";
import { identifyKey, type KeyRef } from "../core/secrets/key-source.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { Clock, KeyStore, Log } from "../ports.ts";

/** After a 401 from an upstream the stored key is read again, at most this often. */
const RECHECK_INTERVAL_MS = 10_000;

/** What is known about one key, for `status`. Never its value. */
interface KeyState {
  ref: KeyRef;
  state: "present" | KeyFailure["code"];
  /** What went wrong, for the owner of the key and not for clients; null while the key is there. */
  problem: string | null;
  /** When this was learned; milliseconds since 1970. */
  at: number;
}

interface Entry {
  secret: Secret | null;
  pending: Promise<Secret> | null;
  recheckedAt: number;
  /** The result of the latest read; null before the first has ended. */
  known: KeyState | null;
}

/**
 * The keys in the daemon's memory, read from the store when first needed and kept until {@link Keyring.forget}. Failures are
 * not kept, so a keychain that is unlocked later works with the next request.
 */
export class Keyring {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  /** The same entries by the `KeyRef` object, which is the same for each request. */
  #byRef = new WeakMap<KeyRef, Entry>();
  /** Counts calls of `forget`, so that the result of a read that began before one is not kept after it. */
  #generation = 0;

  constructor(store: KeyStore, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Returns the key if it is in memory. The hot path, without a promise. */
  cached(ref: KeyRef): Secret | null {
    return this.#entry(ref).secret;
  }

  /** Returns the key from memory or from the store. Concurrent callers share one read. Rejects with a `KeyFailure`. */
  async get(ref: KeyRef): Promise<Secret> {
    const entry = this.#entry(ref);
    if (entry.secret !== null) return entry.secret;
    entry.pending ??= this.#read(ref, entry);
    return entry.pending;
  }

  /** Drops every key. Each is read again on its next use. */
  forget(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#byRef = new WeakMap();
  }

  /**
   * Reads the store again after the upstream has rejected `used`, in case the key was replaced there. The request is not
   * repeated; clients retry by themselves.
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
        // The old key stays: a keychain that is locked now does not prove it wrong.
      },
    );
  }

  /** Lists what is known about each key that was asked for. */
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
      const [state, problem] = describeFailure(error);
      entry.known = { ref, state, problem, at: this.#clock.now() };
      throw error;
    } finally {
      entry.pending = null;
    }
  }

  /** Building the id takes 0.5 µs, so requests find their entry by the `KeyRef` object. */
  #entry(ref: KeyRef): Entry {
    const known = this.#byRef.get(ref);
    if (known !== undefined) return known;
    const id = identifyKey(ref);
    const entry = this.#entries.get(id) ?? newEntry();
    this.#entries.set(id, entry);
    this.#byRef.set(ref, entry);
    return entry;
  }
}

function newEntry(): Entry {
  return { secret: null, pending: null, recheckedAt: -RECHECK_INTERVAL_MS, known: null };
}

/** A store rejects with a `KeyFailure` and nothing else. If one does not, its bug must not take the daemon down. */
function describeFailure(error: unknown): [KeyFailure["code"], string] {
  if (error instanceof KeyFailure) return [error.code, error.messageForOwner];
  return ["unavailable", String(error)];
}
