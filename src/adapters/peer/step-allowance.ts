/** Longest time to wait for more. */
const MAX_WAIT_MS = 5_000;

/** Limits work that is counted in steps to so many in the long run. What is left over from idle times lets it come in bursts. */
export class StepAllowance {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #countedAt = performance.now();

  constructor({ perMs, burst }: { perMs: number; burst: number }) {
    this.#perMs = perMs;
    this.#burst = burst;
    this.#left = burst;
  }

  /** Takes steps that were done from the allowance, which may leave less than none. */
  take(steps: number): void {
    this.#left = Math.max(this.#count() - steps, -MAX_WAIT_MS * this.#perMs);
  }

  /** How long to wait for more, in milliseconds; 0 while some is left. */
  get waitMs(): number {
    return Math.max(0, -this.#count() / this.#perMs);
  }

  #count(): number {
    const now = performance.now();
    this.#left = Math.min(this.#burst, this.#left + (now - this.#countedAt) * this.#perMs);
    this.#countedAt = now;
    return this.#left;
  }
}
