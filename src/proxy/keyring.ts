import type { Choice } from "../core/decide/choose-upstream.ts";
import { KeyFailure } from "../core/failure.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { readOwnKey } from "../core/plans/own-keys.ts";
import { noKey } from "../core/refusals/keys.ts";
import { RefusalError } from "../core/refusals/refusal.ts";
import { identifyKey, type KeyRef } from "../core/secrets/key-source.ts";
import { redactCredentials } from "../core/secrets/credential-values.ts";
import {
  backOffMs,
  ENDLESS,
  hasCome,
  lifeOf,
  timeOf,
  type KeyLife,
  type Moment,
} from "../core/secrets/key-life.ts";
import { MachineTime } from "../core/secrets/machine-time.ts";
import { Secret } from "../core/secrets/secret.ts";
import type { KeyStore, Log, MachineClock } from "../ports.ts";
import { forgetSigningKeys } from "./signing.ts";

/** After a 401 from an upstream the stored key is read again, at most this often. */
const RECHECK_INTERVAL_MS = 10_000;

/** AWS rejects signatures that differ from its clock by more. */
const MAX_SKEW_MS = 300_000;

/** For `status`, a missing key is looked up again at most this often: a keychain or a key command may prompt. A file does not. */
const RETRY_INTERVAL_MS = 1_000;

/** How many texts of clients are known to hold no credential, and how long they are at most. A user agent has some 80 characters. */
const [MAX_HARMLESS, MAX_HARMLESS_LENGTH] = [1_000, 128];

/** The latest read of one key, for `status`. Never its value. */
interface KeyLookup {
  ref: KeyRef;
  state: "present" | KeyFailure["code"];
  /** What went wrong, for the owner of the key and not for clients; null when the key was found. */
  problem: string | null;
  /** When this was learned; milliseconds since 1970. */
  at: number;
  /** When the key was last found; null if never. */
  presentAt: number | null;
}

/** What is known about one key, for `status`. */
interface KeyState extends KeyLookup {
  /** When the key in memory expires; null if that is not known, or there is none. */
  expiresAt: number | null;
  /** When and why the latest attempt to refresh that key failed; null if it succeeded, or there was none. */
  refreshFailure: { at: number; problem: string } | null;
}

/** A key and when it expires are of the same read. */
interface Entry {
  secret: Secret | null;
  life: KeyLife;
  pending: Promise<Secret> | null;
  recheckedAt: number;
  /** The latest read, if it failed. */
  failed: FailedRead | null;
  /** The result of the latest read; null before the first has ended. A failed refresh is none while the old key serves. */
  known: KeyLookup | null;
}

/** Reads that failed one after the other. */
interface FailedRead {
  error: unknown;
  known: KeyLookup;
  count: number;
  /** When a key that expires may be read again, by the monotonic clock. */
  retryAt: number;
}

/**
 * The keys in the daemon's memory, read from the store when first needed and kept until {@link Keyring.forget} or until they expire.
 * Failures are not kept, so a keychain that is unlocked later works with the next request. Only a key that expires is left alone
 * for a while, because each request would run the command.
 *
 * No timer refreshes a key: the first request late in its life does, and is sent with the old one.
 */
export class Keyring {
  readonly #store: KeyStore;
  readonly #clock: MachineClock;
  readonly #time: MachineTime;
  readonly #sinceBoot = () => this.#clock.sinceBoot();
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

  constructor(store: KeyStore, clock: MachineClock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#time = new MachineTime(clock.now(), clock.monotonic(), clock.sinceBoot());
    this.#log = log;
  }

  /** Returns the key if it is in memory and has not expired. The hot path, without a promise. Late in its life it is refreshed. */
  cached(ref: KeyRef): Secret | null {
    const entry = this.#entry(ref);
    // Reading the clock takes ten times as long as all else here.
    if (!expires(entry)) return entry.secret;
    const now = this.#moment();
    if (!hasCome(entry.life.refreshAt, now)) return entry.secret;
    if (!this.#isBackingOff(entry)) this.#refresh(ref, entry);
    return hasCome(entry.life.expiresAt, now) ? null : entry.secret;
  }

  /** Returns the key from memory or from the store. Concurrent callers share one read. Rejects with a `KeyFailure`. */
  async get(ref: KeyRef): Promise<Secret> {
    const cached = this.cached(ref);
    if (cached !== null) return cached;
    const entry = this.#entry(ref);
    if (entry.pending === null && entry.failed !== null && this.#isBackingOff(entry)) {
      entry.known = entry.failed.known;
      throw entry.failed.error;
    }
    entry.pending ??= this.#read(ref, entry);
    return entry.pending;
  }

  /**
   * Returns what a request is sent with: the key, from memory or as a promise. Where the tool itself pays there is none to read, and it is
   * the login or the key that the request has. Rejects as {@link Keyring.require} does.
   */
  findCredential(choice: Choice, headers: HeaderIndex): Secret | Promise<Secret> {
    if (choice.account === "own") return new Secret(readOwnKey(headers, choice.route.api).key ?? "");
    if (choice.plan !== null) return new Secret(choice.plan.findLogin(headers) ?? "");
    return this.cached(choice.key) ?? this.require(choice.key);
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

  /** Every key that is in memory, to be found in a text. */
  get secrets(): Secret[] {
    return [...this.#entries.values()].flatMap(({ secret }) => secret ?? []);
  }

  /** Drops every key, and what was derived from one to sign requests. Each is read again on its next use. */
  forget(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#byRef = new WeakMap();
    void forgetSigningKeys();
  }

  /**
   * Reads the store again after the upstream has rejected the key, in case the key was replaced there. The request is not
   * repeated; clients retry by themselves. If a clock that differs from the upstream's is why, that is logged instead: `serviceTime` is
   * the upstream's, in milliseconds since 1970; null where the clock does not matter.
   */
  recheck(ref: KeyRef, serviceTime: number | null = null): void {
    const entry = this.#entry(ref);
    const now = this.#clock.monotonic();
    if (now - entry.recheckedAt < RECHECK_INTERVAL_MS || entry.pending !== null) return;
    entry.recheckedAt = now;
    const aheadMs = serviceTime === null ? 0 : this.#clock.now() - serviceTime;
    if (Math.abs(aheadMs) > MAX_SKEW_MS) return this.#blameClock(ref, aheadMs);
    if (expires(entry)) return this.#refresh(ref, entry);
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
    const used = this.#isOver(entry) ? null : entry.secret;
    if (used === null) {
      entry.pending ??= this.#read(ref, entry);
      return entry.pending;
    }
    if (expires(entry)) this.#refresh(ref, entry);
    const generation = this.#generation;
    try {
      const stored = await (entry.pending ?? this.#store.read(ref));
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
    await Promise.allSettled(failed.map((ref) => this.reread(ref)));
  }

  /** Lists what is known about each key that was requested. */
  states(): KeyState[] {
    return [...this.#entries.values()].flatMap(({ known, life, failed }) => {
      if (known === null) return [];
      const expiresAt = life.lengthMs === Infinity ? null : timeOf(life.expiresAt, this.#moment());
      const refreshFailure =
        failed === null ? null : { at: failed.known.at, problem: failed.known.problem ?? "" };
      return [{ ...known, expiresAt, refreshFailure: expiresAt === null ? null : refreshFailure }];
    });
  }

  #blameClock(ref: KeyRef, aheadMs: number): void {
    const minutes = Math.round(Math.abs(aheadMs) / 60_000);
    this.#log.warn(
      { key: ref.name, origin: ref.origin, hint: "set this machine's clock" },
      `the upstream rejects signatures: this machine's clock is ${minutes} minutes ${aheadMs > 0 ? "ahead of" : "behind"} the upstream's`,
    );
  }

  #adopt(ref: KeyRef, entry: Entry, stored: Secret): void {
    if (entry.secret?.isSameAs(stored) === true) return;
    this.#keep(ref, entry, stored, this.#moment());
    this.#log.info({ key: ref.name, origin: ref.origin }, "the stored key had changed; using the new one");
  }

  #keep(ref: KeyRef, entry: Entry, secret: Secret, readAt: Moment): void {
    entry.secret = secret;
    entry.life = lifeOf(secret, ref.source, readAt);
    // They were compared with other keys.
    this.#harmless.clear();
  }

  async #read(ref: KeyRef, entry: Entry): Promise<Secret> {
    const [generation, readAt] = [this.#generation, this.#moment()];
    try {
      const secret = await this.#store.read(ref);
      // Requests that were sent with the old one may still be rejected. They need not refresh the new one.
      if (entry.secret !== null) entry.recheckedAt = this.#clock.monotonic();
      if (generation === this.#generation) this.#keep(ref, entry, secret, readAt);
      this.#presentAt.set(identifyKey(ref), this.#clock.now());
      entry.known = this.#know(ref, "present", null);
      entry.failed = null;
      return secret;
    } catch (error) {
      const [state, problem] = describeFailure(error);
      // A key command may print a key that was read before.
      const known = this.#know(ref, state, this.redact(problem));
      const count = (entry.failed?.count ?? 0) + 1;
      const retryAt = this.#clock.monotonic() + backOffMs(count, entry.life.lengthMs);
      entry.failed = { error, known, count, retryAt };
      if (entry.secret === null || this.#isOver(entry)) entry.known = known;
      throw error;
    } finally {
      entry.pending = null;
    }
  }

  /** Reads a key again that is still in use, once for all requests. Never throws, and no request has to wait for it. */
  #refresh(ref: KeyRef, entry: Entry): void {
    if (entry.pending !== null) return;
    entry.pending = this.#read(ref, entry);
    entry.pending.catch((error: unknown) => {
      // Later than that, the requests that wait for it say so.
      if (this.#isOver(entry)) return;
      const { message, hint } =
        error instanceof KeyFailure ? error : new KeyFailure("unavailable", "it failed", "");
      const facts = { about: "keys" as const, key: ref.name, origin: ref.origin, hint };
      this.#log.warn(facts, `cannot refresh a key, which is used until it expires: ${message}`);
    });
  }

  /** True once the key of the latest read has expired. */
  #isOver({ life }: Entry): boolean {
    return hasCome(life.expiresAt, this.#moment());
  }

  #moment(): Moment {
    const wall = this.#clock.now();
    return { wall, machine: this.#time.read(wall, this.#clock.monotonic(), this.#sinceBoot) };
  }

  /** True while a source that failed is left alone. */
  #isBackingOff(entry: Entry): boolean {
    return expires(entry) && entry.failed !== null && this.#clock.monotonic() < entry.failed.retryAt;
  }

  #know(ref: KeyRef, state: KeyState["state"], problem: string | null): KeyLookup {
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
  return {
    secret: null,
    life: ENDLESS,
    pending: null,
    recheckedAt: -RECHECK_INTERVAL_MS,
    failed: null,
    known: null,
  };
}

function expires({ life }: Entry): boolean {
  return life.lengthMs !== Infinity;
}

/** A store rejects with a `KeyFailure` and nothing else. If one breaks that rule, its bug must not stop the daemon. */
function describeFailure(error: unknown): [KeyFailure["code"], string] {
  if (error instanceof KeyFailure) return [error.code, error.messageForOwner];
  return ["unavailable", String(error)];
}
