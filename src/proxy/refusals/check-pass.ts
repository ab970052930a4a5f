import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../ports.ts";

/** The header with the pass of a request that `tollkeeper check` sends to be refused. It is never forwarded: such a request is refused. */
export const CHECK_HEADER = "x-tollkeeper-check";

/** How long a check may take, and how many requests it may send. */
const LIFE_MS = 30_000;
const MOST_REQUESTS = 16;

/**
 * Knows the refusals that `tollkeeper check` provokes, so that they are counted apart from those of programs. Only the owner gets a
 * pass, over the control socket; a web page or another user has no way to one. What was refused with a pass still counts, so it hides
 * nothing.
 */
export class CheckPass {
  readonly #clock: Clock;
  #pass: { text: Buffer; endsAt: number; left: number } | null = null;
  /** Requests that were refused with a pass. */
  refused = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a pass in place of an earlier one. */
  issue(): string {
    const text = randomBytes(16).toString("hex");
    const endsAt = this.#clock.monotonic() + LIFE_MS;
    this.#pass = { text: Buffer.from(text), endsAt, left: MOST_REQUESTS };
    return text;
  }

  /** True for a refused request with a valid pass, which it counts. `given` is the value of its header. */
  counts(given: string | string[] | undefined): boolean {
    const pass = this.#pass;
    if (typeof given !== "string" || pass === null || pass.left === 0) return false;
    const bytes = Buffer.from(given);
    const isSame = bytes.length === pass.text.length && timingSafeEqual(bytes, pass.text);
    if (!isSame || this.#clock.monotonic() > pass.endsAt) return false;
    pass.left -= 1;
    this.refused += 1;
    return true;
  }
}
