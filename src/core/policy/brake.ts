import type { PauseScope } from "./pauses.ts";

/** Which requests a tool, or the tools of a group together, may send. null for what is not limited. */
export interface BrakeTerms {
  /** The size of a token bucket that fills within a minute: so many at once, then as many in each minute. */
  requestsPerMinute: number | null;
  /** How many may run at the same time. */
  concurrent: number | null;
  /** How many times a request with the same body may be sent within so many minutes. */
  same: { times: number; minutes: number } | null;
  /** Which share of each window of the service's limits has to be left of the account that would pay, in percent (docs/limits.md). */
  keep: number | null;
}

/** The brake of a tool or a group. */
export interface Brake {
  scope: Extract<PauseScope, { name: string }>;
  terms: BrakeTerms;
}

/** A request as far as brakes judge it. */
export interface BrakedRequest {
  brakes: readonly Brake[];
  /** What tells its body from others; null for one that is not compared. */
  body: string | null;
}

/** How a request would exceed a brake. `waitMs` is until it would not. */
export type Breach = { limit: "requestsPerMinute" | "same"; waitMs: number } | { limit: "concurrent" };

const MINUTE_MS = 60_000;

/** Sums of fractions of a minute differ from the exact time by less. */
const ROUNDING_MS = 0.001;

/** Bodies that are remembered for one brake, so that memory stays bounded: a tool that sends more of them repeats none soon. */
const MAX_BODIES = 4_096;

/** What a brake has counted. Times are milliseconds of a monotonic clock. */
export class BrakeMeter {
  /**
   * When the bucket will be full again: the one number of the generic cell rate algorithm, which allows what a token bucket
   * allows (ITU-T I.371, Annex A). It needs no change when the rate changes.
   */
  #fullAt = -Infinity;
  #running = 0;
  /** When each body was sent, by its fingerprint; the body that was sent last comes last. */
  readonly #sent = new Map<string, number[]>();

  /** Returns how a request at `tick` would exceed the terms; null if it would not. `body` is null for one that is not compared. */
  findBreach(terms: BrakeTerms, body: string | null, tick: number): Breach | null {
    const { requestsPerMinute, concurrent, same } = terms;
    if (requestsPerMinute !== null) {
      const waitMs = this.#takenAt(requestsPerMinute, tick) - MINUTE_MS - tick;
      if (waitMs > ROUNDING_MS) return { limit: "requestsPerMinute", waitMs };
    }
    if (concurrent !== null && this.#running >= concurrent) return { limit: "concurrent" };
    if (same === null || body === null) return null;
    const windowMs = same.minutes * MINUTE_MS;
    const recent = this.#recent(body, tick - windowMs);
    const oldest = recent.at(-same.times);
    return oldest === undefined ? null : { limit: "same", waitMs: oldest + windowMs - tick };
  }

  /** Counts a request that may go. */
  count({ requestsPerMinute, same }: BrakeTerms, body: string | null, tick: number): void {
    if (requestsPerMinute !== null) this.#fullAt = this.#takenAt(requestsPerMinute, tick);
    if (same === null || body === null) return;
    const since = tick - same.minutes * MINUTE_MS;
    const times = [...this.#recent(body, since), tick];
    this.#sent.delete(body);
    this.#sent.set(body, times);
    this.#forget(since);
  }

  /** Counts a request as running until {@link BrakeMeter.leave}. */
  enter(): void {
    this.#running++;
  }

  leave(): void {
    this.#running--;
  }

  /** When the bucket would be full again if a request took from it now. */
  #takenAt(requestsPerMinute: number, tick: number): number {
    return Math.max(this.#fullAt, tick) + MINUTE_MS / requestsPerMinute;
  }

  #recent(body: string, since: number): number[] {
    return this.#sent.get(body)?.filter((tick) => tick > since) ?? [];
  }

  #forget(since: number): void {
    for (const [body, times] of this.#sent) {
      if (this.#sent.size <= MAX_BODIES && (times.at(-1) ?? since) > since) return;
      this.#sent.delete(body);
    }
  }
}

/**
 * Says what a brake allows: `60 requests per minute, 8 requests at once, one request 12 times within 10 minutes, requests while 10% of each
 * window of the service is left`.
 */
export function describeTerms({ requestsPerMinute, concurrent, same, keep }: BrakeTerms): string {
  const parts: string[] = [];
  if (requestsPerMinute !== null) parts.push(`${count(requestsPerMinute, "request")} per minute`);
  if (concurrent !== null) parts.push(`${count(concurrent, "request")} at once`);
  if (same !== null)
    parts.push(`one request ${count(same.times, "time")} within ${count(same.minutes, "minute")}`);
  if (keep !== null) parts.push(`requests while ${keep}% of each window of the service is left`);
  return parts.join(", ");
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
