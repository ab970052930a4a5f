import type { Circuits } from "../../core/policy/circuits.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Clock } from "../../ports.ts";
import type { Choice } from "../choose-upstream.ts";
import type { ExchangeRecorder } from "./exchange-recorder.ts";
import { KeptBody } from "./kept-body.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** Statuses with which a service says that it has done nothing: too many requests, overloaded (Anthropic), unavailable. */
const NOTHING_DONE = new Set([429, 503, 529]);

/** Those that say that it is broken. A 429 is about one account, or one model. */
const BROKEN = new Set([503, 529]);

/** Another attempt that can begin at once. */
export interface NextAttempt {
  choice: Choice;
  secret: Secret;
  /** The whole request body, as the first attempt has sent it or would have. */
  body: Buffer;
  firstAttempt: ExchangeRecorder;
  /** What is left of the limit for the first byte, in milliseconds. */
  firstByteMs: number;
}

/** What a fallback works with. */
interface FallbackParts {
  circuits: Circuits;
  buffer: SharedBuffer;
  clock: Clock;
  /** The patience of the whole request: all its attempts together wait no longer for a first byte. In milliseconds. */
  firstByteMs: number;
  /** Resolves with null if there is no key for it, which has been logged. Never rejects. */
  readKey(choice: Choice): Promise<Secret | null>;
  /** Sends the request to another upstream. */
  start(next: NextAttempt, fallback: Fallback): void;
}

/**
 * The upstreams that a request may be sent to after the first, each only after proof that those before it have done nothing: no
 * connection was opened, or the answer was 429, 503 or 529. Whatever else happens, the request may have been executed.
 */
export class Fallback {
  /** The upstream to ask first. */
  readonly first: Choice;
  /** What the attempts send. */
  readonly body: KeptBody;
  readonly #parts: FallbackParts;
  readonly #others: Choice[];
  readonly #startedTick: number;
  /** What became of the upstreams so far, for the response header. */
  readonly #results: string[] = [];
  #firstAttempt: ExchangeRecorder | null = null;

  constructor(choice: Choice, parts: FallbackParts) {
    this.#parts = parts;
    this.#startedTick = parts.clock.monotonic();
    this.#others = [choice, ...choice.fallbacks];
    this.body = new KeptBody(parts.buffer);
    const first = this.#takeNext();
    this.first = first ?? choice;
    // Where all of them rest, the request goes where it would go without a fallback.
    if (first === null) this.#results.length = 0;
  }

  /** True for the status of a response that says that nothing was done, if it can be asked for the next attempt. */
  isWelcome(status: number): boolean {
    return NOTHING_DONE.has(status) && this.canGoOn;
  }

  /** True while there may be another attempt. */
  get canGoOn(): boolean {
    return this.#others.length > 0 && this.body.isKept && this.#leftMs() > 0;
  }

  /** Notes how an upstream answered. */
  answered({ upstream }: Choice, status: number): void {
    if (BROKEN.has(status)) this.failed({ upstream });
    else this.#parts.circuits.worked(upstream.name);
  }

  /** Notes that an upstream was broken: there was no connection to it, or no response. */
  failed({ upstream }: Pick<Choice, "upstream">): void {
    this.#parts.circuits.failed(upstream.name, this.#parts.clock.monotonic());
  }

  /**
   * Prepares the next attempt. Resolves with null when there is none: no upstream is left that does not rest and whose key there is,
   * the body is too long to be kept, or the patience is used up. Never rejects.
   * @param result what became of this attempt, as in the header: `status=429`, `error=upstream_unreachable`
   */
  async next(attempt: ExchangeRecorder, result: string): Promise<NextAttempt | null> {
    this.#firstAttempt ??= attempt;
    const body = await this.body.whole();
    if (body === null) return null;
    const before = this.#results.length;
    this.#results.push(`${attempt.choice.upstream.name};${result}`);
    for (let choice = this.#takeNext(); choice !== null; choice = this.#takeNext()) {
      const secret = await this.#parts.readKey(choice);
      const firstByteMs = this.#leftMs();
      if (firstByteMs <= 0) break;
      if (secret !== null) return { choice, secret, body, firstAttempt: this.#firstAttempt, firstByteMs };
    }
    // The response of this attempt is the one that the client gets.
    this.#results.length = before;
    return null;
  }

  /** Starts the attempt that {@link Fallback.next} has prepared. */
  start(next: NextAttempt): void {
    this.#parts.start(next, this);
  }

  /** The header that names the upstreams that did not serve the request before the one that did; null if there were none. */
  describe({ upstream }: Choice, result: string): string | null {
    return this.#results.length === 0 ? null : [...this.#results, `${upstream.name};${result}`].join(", ");
  }

  #takeNext(): Choice | null {
    const { circuits, clock } = this.#parts;
    for (let choice = this.#others.shift(); choice !== undefined; choice = this.#others.shift()) {
      if (circuits.admit(choice.upstream.name, clock.monotonic())) return choice;
      this.#results.push(`${choice.upstream.name};error=resting`);
    }
    return null;
  }

  #leftMs(): number {
    const elapsedMs = this.#parts.clock.monotonic() - this.#startedTick;
    return Math.floor(this.#parts.firstByteMs - elapsedMs);
  }
}
