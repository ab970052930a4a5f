/** So many failures in a row, and an upstream rests. */
const MOST_FAILURES = 3;

/** How long it rests at first. Each failure of the request that tries it again doubles that, up to the longest. */
const FIRST_REST_MS = 30_000;
const LONGEST_REST_MS = 300_000;

/** An upstream that has failed since it last worked. */
interface Circuit {
  failures: number;
  restMs: number;
  /** Until then it rests; milliseconds of the caller's clock. Before {@link MOST_FAILURES} it does not. */
  until: number;
  /** True while a request tries whether it works again. */
  isTried: boolean;
}

/**
 * Which upstreams rest because they are broken, so that requests with a fallback do not wait for them: a circuit breaker for each
 * (Nygard, "Release It!", 2007). After a rest, one request tries the upstream again and the others still avoid it. All times are
 * in milliseconds of one monotonic clock.
 */
export class Circuits {
  /** By upstream. One that works has no entry. */
  readonly #circuits = new Map<string, Circuit>();

  /** Returns whether a request may be sent there. After a rest this is true once; the next may try after as long again. */
  admit(upstream: string, now: number): boolean {
    const circuit = this.#circuits.get(upstream);
    if (circuit === undefined || circuit.failures < MOST_FAILURES) return true;
    if (now < circuit.until) return false;
    circuit.until = now + circuit.restMs;
    circuit.isTried = true;
    return true;
  }

  /** Notes that an upstream has answered. */
  worked(upstream: string): void {
    this.#circuits.delete(upstream);
  }

  /** Notes that an upstream was broken. */
  failed(upstream: string, now: number): void {
    const circuit = this.#circuits.get(upstream) ?? newCircuit();
    this.#circuits.set(upstream, circuit);
    const wasResting = circuit.failures >= MOST_FAILURES;
    circuit.failures += 1;
    if (circuit.failures < MOST_FAILURES) return;
    // Requests that were sent before the rest began say nothing new.
    if (wasResting && !circuit.isTried) return;
    if (circuit.isTried) circuit.restMs = Math.min(circuit.restMs * 2, LONGEST_REST_MS);
    circuit.isTried = false;
    circuit.until = now + circuit.restMs;
  }

  /** Returns how long an upstream still rests; null when requests are sent to it. 0: the next request tries it again. */
  restOf(upstream: string, now: number): number | null {
    const circuit = this.#circuits.get(upstream);
    if (circuit === undefined || circuit.failures < MOST_FAILURES) return null;
    return Math.max(0, circuit.until - now);
  }
}

function newCircuit(): Circuit {
  return { failures: 0, restMs: FIRST_REST_MS, until: 0, isTried: false };
}
