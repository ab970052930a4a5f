import type { Money } from "../money.ts";

/**
 * Amounts for one of each of several things. They are multiples of a common step, and these small numbers, so that most sums of them fit into
 * a number: that takes a tenth of the time of sums of {@link Money}, and is as exact.
 */
export class Rates {
  readonly #rates: readonly Money[];
  readonly #step: Money;
  /** How many steps each rate is. */
  readonly #steps: Float64Array;

  constructor(rates: readonly Money[]) {
    this.#rates = rates;
    this.#step = rates.reduce((step, rate) => commonDivisor(step, rate < 0n ? -rate : rate), 0n);
    this.#steps = Float64Array.from(rates, (rate) => (this.#step === 0n ? 0 : Number(rate / this.#step)));
  }

  /** Returns what so many of each come to. @param first where their counts, which are whole numbers, begin */
  times(counts: ArrayLike<number>, first: number): Money {
    if (this.#step === 0n) return 0n;
    let steps = 0;
    let size = 0;
    for (let at = 0; at < this.#steps.length; at += 1) {
      const more = (counts[first + at] ?? 0) * (this.#steps[at] ?? 0);
      steps += more;
      size += Math.abs(more);
    }
    // As long as not even the sum of their sizes is above it, no number on the way was rounded.
    if (size <= Number.MAX_SAFE_INTEGER) return steps === 0 ? 0n : BigInt(steps) * this.#step;
    return this.#rates.reduce((sum, rate, at) => sum + BigInt(counts[first + at] ?? 0) * rate, 0n);
  }
}

function commonDivisor(one: bigint, other: bigint): bigint {
  let [larger, smaller] = [one, other];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
