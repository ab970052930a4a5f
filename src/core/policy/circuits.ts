/** So many failures in a row open a circuit. */
const FAILURES_TO_OPEN = 3;

/** How long a circuit stays open at first. Each failed probe doubles that, up to the longest. */
const FIRST_COOLDOWN_MS = 30_000;
const LONGEST_COOLDOWN_MS = 300_000;

/** The circuit of an upstream that has failed since it last responded. */
interface Circuit {
  failures: number;
  cooldownMs: number;
  /** When the next request may probe the upstream, by the caller's clock. Means nothing before {@link FAILURES_TO_OPEN}. */
  until: number;
  /** True while a probe is under way: the circuit is half-open. */
  isHalfOpen: boolean;
}

/**
 * A circuit breaker for each upstream, so that requests with a fallback do not wait for one that is broken (Nygard, "Release It!",
 * 2007). Several failures in a row open the circuit, and requests go elsewhere. After a cooldown one request, the probe, is admitted:
 * a response closes the circuit, and another failure opens it for twice as long. All times are in milliseconds of one monotonic clock.
 */
export class Circuits {
  /** By upstream. One that works has no entry. */
  readonly #circuits = new Map<string, Circuit>();

  /** Returns whether a request may be sent there. After the cooldown this is true for one probe; for another after as long again. */
  admit(upstream: string, now: number): boolean {
    const circuit = this.#circuits.get(upstream);
    if (circuit === undefined || circuit.failures < FAILURES_TO_OPEN) return true;
    if (now < circuit.until) return false;
    circuit.until = now + circuit.cooldownMs;
    circuit.isHalfOpen = true;
    return true;
  }

  /** Notes that an upstream has responded: closes its circuit. */
  succeeded(upstream: string): void {
    this.#circuits.delete(upstream);
  }

  /** Notes that an upstream was broken. */
  failed(upstream: string, now: number): void {
    const circuit = this.#circuits.get(upstream) ?? newCircuit();
    this.#circuits.set(upstream, circuit);
    const wasOpen = circuit.failures >= FAILURES_TO_OPEN;
    circuit.failures += 1;
    if (circuit.failures < FAILURES_TO_OPEN) return;
    // Requests that were sent before the circuit opened say nothing new.
    if (wasOpen && !circuit.isHalfOpen) return;
    if (circuit.isHalfOpen) circuit.cooldownMs = Math.min(circuit.cooldownMs * 2, LONGEST_COOLDOWN_MS);
    circuit.isHalfOpen = false;
    circuit.until = now + circuit.cooldownMs;
  }

  /** Returns for how long an upstream is to be skipped; null while its circuit is closed. 0: the next request is the probe. */
  cooldownOf(upstream: string, now: number): number | null {
    const circuit = this.#circuits.get(upstream);
    if (circuit === undefined || circuit.failures < FAILURES_TO_OPEN) return null;
    return Math.max(0, circuit.until - now);
  }
}

function newCircuit(): Circuit {
  return { failures: 0, cooldownMs: FIRST_COOLDOWN_MS, until: 0, isHalfOpen: false };
}
