import type { Decision } from "../../core/decide/decision.ts";
import type { Circuits } from "../../core/policy/circuits.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Clock } from "../../ports.ts";
import type { KeyChoice } from "../../core/decide/choose-upstream.ts";
import type { Exchange } from "./exchange.ts";
import { KeptBody } from "./kept-body.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** Statuses with which a service says that it has done nothing: too many requests, unavailable, overloaded (Anthropic). */
const NOTHING_DONE = new Set([429, 503, 529]);

/** Those of them that say that it is broken. A 429 is about one account, or one model. */
const BROKEN = new Set([503, 529]);

/** Another attempt that can begin at once. */
export interface NextAttempt {
  choice: KeyChoice;
  secret: Secret;
  /** The first of all, and what is left of the limit for the first byte, in milliseconds. */
  after: { first: Exchange; firstByteMs: number };
}

/** What was asked, as far as it is told from others. */
type Asked = Pick<KeyChoice, "upstream">;

/** What attempts work with. */
interface AttemptsParts {
  circuits: Circuits;
  buffer: SharedBuffer;
  clock: Clock;
  /** The limit for the first byte, which all attempts together have. In milliseconds. */
  firstByteMs: number;
  keyring: {
    /** Resolves with null if the key cannot be read, which has been logged. Never rejects. */
    find(ref: KeyRef): Promise<Secret | null>;
  };
}

/**
 * The upstreams that a request may be sent to, one after the other, each only after proof that those before it have done nothing: no
 * connection was opened, or the response was 429, 503 or 529. After anything else, the request may have been executed.
 */
export class Attempts {
  readonly decision: Decision;
  /** The upstream to ask first. */
  readonly first: KeyChoice;
  /** What the attempts send. */
  readonly body: KeptBody;
  readonly #parts: AttemptsParts;
  readonly #candidates: KeyChoice[];
  readonly #startedTick: number;
  /** The upstreams that another one was asked after, and why: the beginning of the response header. */
  readonly #passedOver: string[] = [];
  #firstAttempt: Exchange | null = null;

  constructor(decision: Decision, choice: KeyChoice, parts: AttemptsParts) {
    this.decision = decision;
    this.#parts = parts;
    this.#startedTick = parts.clock.monotonic();
    this.#candidates = [choice, ...choice.fallbacks];
    this.body = new KeptBody(parts.buffer);
    const skipped: string[] = [];
    const first = this.#takeNext(skipped);
    // Where the circuits of all of them are open, the request goes where it would go without a fallback.
    this.first = first ?? choice;
    if (first !== null) this.#passedOver = skipped;
  }

  /** Returns whether another attempt may follow a response with this status: it says that nothing was done. */
  mayFollow(status: number): boolean {
    return NOTHING_DONE.has(status) && this.hasNext;
  }

  /** True while there may be another attempt. */
  get hasNext(): boolean {
    return this.#candidates.length > 0 && this.body.isKept && this.#leftMs() > 0;
  }

  /** Notes how an upstream responded. */
  answered(choice: Asked, status: number): void {
    if (BROKEN.has(status)) this.failed(choice);
    else this.#parts.circuits.succeeded(choice.upstream.name);
  }

  /** Notes that an upstream was broken: there was no connection to it, or no valid response. */
  failed({ upstream }: Asked): void {
    this.#parts.circuits.failed(upstream.name, this.#parts.clock.monotonic());
  }

  /**
   * Prepares the next attempt. Resolves with null when there is none: no candidate is left whose circuit is closed and whose key can
   * be read, the body is too long to be kept, or the time is up. Never rejects.
   * @param result what became of this attempt, as in the header: `status=429`, `error=upstream_unreachable`
   */
  async next(attempt: Exchange, result: string): Promise<NextAttempt | null> {
    this.#firstAttempt ??= attempt;
    const first = this.#firstAttempt;
    if (!(await this.body.arrived())) return null;
    const passedOver = [describeAttempt(attempt.choice, result)];
    for (let choice = this.#takeNext(passedOver); choice !== null; choice = this.#takeNext(passedOver)) {
      const secret = await this.#parts.keyring.find(choice.key);
      const firstByteMs = this.#leftMs();
      if (firstByteMs <= 0) return null;
      if (secret === null) continue;
      this.#passedOver.push(...passedOver);
      return { choice, secret, after: { first, firstByteMs } };
    }
    return null;
  }

  /** The header of the response that the client gets; null if no other upstream was passed over. */
  describe(choice: Asked, result: string): string | null {
    if (this.#passedOver.length === 0) return null;
    return [...this.#passedOver, describeAttempt(choice, result)].join(", ");
  }

  /** Takes the next candidate that its circuit admits. Adds those before it to `skipped`. */
  #takeNext(skipped: string[]): KeyChoice | null {
    const { circuits, clock } = this.#parts;
    for (let choice = this.#candidates.shift(); choice !== undefined; choice = this.#candidates.shift()) {
      if (circuits.admit(choice.upstream.name, clock.monotonic())) return choice;
      skipped.push(describeAttempt(choice, "error=circuit_open"));
    }
    return null;
  }

  #leftMs(): number {
    const elapsedMs = this.#parts.clock.monotonic() - this.#startedTick;
    return Math.floor(this.#parts.firstByteMs - elapsedMs);
  }
}

function describeAttempt({ upstream }: Asked, result: string): string {
  return `${upstream.name};${result}`;
}
