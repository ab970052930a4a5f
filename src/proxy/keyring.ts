import { KeyFailure } from "../core/failure.ts";
import { noKey } from "../core/refusals/keys.ts";
import { RefusalError } from "../core/refusals/refusal.ts";
import { identifyKey, type KeyRef } from "../core/secrets/key-source.ts";
import { redactCredentials } from "../core/secrets/credential-values.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { Clock, KeyStore, Log } from "../ports.ts";

/** After a 401 from an upstream the stored key is read again, at most this often. */
const RECHECK_INTERVAL_MS = 10_000;

/** For `status`, a missing key is looked up again at most this often: a keychain or a key command may prompt. A file does not. */
const RETRY_INTERVAL_MS = 1_000;

/** How many texts of clients are known to hold no credential, and how long they are at most. A user agent has some 80 characters. */
const [MAX_HARMLESS, MAX_HARMLESS_LENGTH] = [1_000, 128];

/** What is known about one key, for `status`. Never its value. */
interface KeyState {
  ref: KeyRef;
  state: "present" | KeyFailure["code"];
  /** What went wrong, for the owner of the key and not for clients; null when the key was found. */
  problem: string | null;
  /** When this was learned; milliseconds since 1970. */
  at: number;
  /** When the key was last found; null if never. */
  presentAt: number | null;
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
  /** When each key was last found, by its id, however often it was dropped since. */
  readonly #presentAt = new Map<string, number>();
  /** Texts of clients that hold none of the keys, and no other credential. */
  readonly #harmless = new Set<string>();
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

  /** As {@link Keyring.get}, for a request. Why there is none is logged. @throws RefusalError */
  async require(ref: KeyRef): Promise<Secret> {
    try {
      return await this.get(ref);
    } catch (error) {
      if (!(error instanceof KeyFailure)) throw error;
      const facts = { key: ref.name, origin: ref.origin, hint: error.hint };
      this.#log.warn({ about: "keys", ...facts }, error.message);
      throw new RefusalError(noKey(error));
    }
  }

  /** As {@link Keyring.require}; resolves with null when there is none. */
  async find(ref: KeyRef): Promise<Secret | null> {
    try {
      return await this.require(ref);
    } catch (error) {
      if (!(error instanceof RefusalError)) this.#log.error({ err: error }, "cannot read a key");
      return null;
    }
  }

  /**
   * Replaces by asterisks, in a text that a client chose, every key that is in memory, and every other credential that can be told by
   * its form (SECURITY.md E6). Keeps the length. Takes 0.04 µs for a text that was there before, as nearly all are, and up to 2 µs for
   * another.
   */
  redact(text: string): string {
    if (this.#harmless.has(text)) return text;
    let redacted = redactCredentials(text);
    for (const { secret } of this.#entries.values()) redacted = secret?.redactText(redacted) ?? redacted;
    if (redacted === text && text.length <= MAX_HARMLESS_LENGTH) {
      if (this.#harmless.size >= MAX_HARMLESS) this.#harmless.clear();
      this.#harmless.add(text);
    }
    return redacted;
  }

  /** Drops every key. Each is read again on its next use. */
  forget(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#byRef = new WeakMap();
  }

  /**
   * Reads the store again after the upstream has rejected the key, in case the key was replaced there. The request is not
   * repeated; clients retry by themselves.
   */
  recheck(ref: KeyRef): void {
    const entry = this.#entry(ref);
    const now = this.#clock.monotonic();
    if (now - entry.recheckedAt < RECHECK_INTERVAL_MS || entry.pending !== null) return;
    entry.recheckedAt = now;
    const generation = this.#generation;
    this.#store.read(ref).then(
      (stored) => {
        if (generation === this.#generation) this.#adopt(ref, entry, stored);
      },
      () => {
        // Keep the old key: a keychain that is now locked does not prove it wrong.
      },
    );
  }

  /**
   * Reads the store again although the key may be in memory, and uses what it finds from then on. For a test of the key: the store may
   * have another by now. A store that is locked or does not respond says nothing about the key, so then the one in memory is returned.
   * Rejects with a `KeyFailure`.
   */
  async reread(ref: KeyRef): Promise<Secret> {
    const entry = this.#entry(ref);
    const used = entry.secret;
    if (used === null) return this.get(ref);
    const generation = this.#generation;
    try {
      const stored = await this.#store.read(ref);
      if (generation === this.#generation) this.#adopt(ref, entry, stored);
      return stored;
    } catch (error) {
      const says = error instanceof KeyFailure ? error.code : null;
      if (says === "locked" || says === "unresponsive") return used;
      throw error;
    }
  }

  /** Looks up each missing key again, so that its state is current. Never rejects. */
  async retryFailed(): Promise<void> {
    const failed = [...this.#entries.values()].flatMap(({ known }) => {
      if (known === null || known.problem === null) return [];
      const { ref, at } = known;
      const isDue = ref.source.kind === "file" || this.#clock.now() - at >= RETRY_INTERVAL_MS;
      return isDue ? [ref] : [];
    });
    await Promise.allSettled(failed.map((ref) => this.get(ref)));
  }

  /** Lists what is known about each key that was requested. */
  states(): KeyState[] {
    return [...this.#entries.values()].flatMap((entry) => entry.known ?? []);
  }

  #adopt(ref: KeyRef, entry: Entry, stored: Secret): void {
    if (entry.secret?.isSameAs(stored) === true) return;
    this.#keep(entry, stored);
    this.#log.info({ key: ref.name, origin: ref.origin }, "the stored key had changed; using the new one");
  }

  #keep(entry: Entry, secret: Secret): void {
    entry.secret = secret;
    // They were compared with other keys.
    this.#harmless.clear();
  }

  async #read(ref: KeyRef, entry: Entry): Promise<Secret> {
    const generation = this.#generation;
    try {
      const secret = await this.#store.read(ref);
      if (generation === this.#generation) this.#keep(entry, secret);
      this.#presentAt.set(identifyKey(ref), this.#clock.now());
      entry.known = this.#know(ref, "present", null);
      return secret;
    } catch (error) {
      const [state, problem] = describeFailure(error);
      // A key command may print a key that was read before.
      entry.known = this.#know(ref, state, this.redact(problem));
      throw error;
    } finally {
      entry.pending = null;
    }
  }

  #know(ref: KeyRef, state: KeyState["state"], problem: string | null): KeyState {
    return {
      ref,
      state,
      problem,
      at: this.#clock.now(),
      presentAt: this.#presentAt.get(identifyKey(ref)) ?? null,
    };
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

/** A store rejects with a `KeyFailure` and nothing else. If one breaks that rule, its bug must not stop the daemon. */
function describeFailure(error: unknown): [KeyFailure["code"], string] {
  if (error instanceof KeyFailure) return [error.code, error.messageForOwner];
  return ["unavailable", String(error)];
}
