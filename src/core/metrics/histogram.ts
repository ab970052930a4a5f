import type { HistogramValue } from "./metric.ts";

/**
 * Upper bounds in seconds: those of OpenTelemetry's conventions for durations and times to first chunk, 0.01 to 81.92, and three more,
 * because responses of coding agents take minutes. Each is twice the one before it, as in native histograms of scale 0, so that a
 * conversion into those keeps the resolution.
 */
const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68,
  655.36,
] as const;

const BOUNDS_MS = SECONDS.map((seconds) => seconds * 1000);

/** {@link Histogram} as data. */
export interface EncodedHistogram {
  counts: readonly number[];
  /** In microseconds. */
  sum: number;
}

/** How long things took. */
export class Histogram {
  readonly #counts: number[] = Array.from({ length: SECONDS.length + 1 }, () => 0);
  /** A whole number of microseconds: sums of fractions would depend on their order. */
  #sum = 0;

  /** Inverts {@link encode}. Counts that are too many are left out. */
  static of({ counts, sum }: EncodedHistogram): Histogram {
    const histogram = new Histogram();
    for (const at of histogram.#counts.keys()) histogram.#counts[at] = counts[at] ?? 0;
    histogram.#sum = sum;
    return histogram;
  }

  add(milliseconds: number): void {
    const at = BOUNDS_MS.findIndex((bound) => milliseconds <= bound);
    const bucket = at === -1 ? SECONDS.length : at;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += Math.round(milliseconds * 1000);
  }

  get count(): number {
    return this.#counts.reduce((total, one) => total + one, 0);
  }

  /** In seconds. */
  value(): HistogramValue {
    return { bounds: SECONDS, counts: this.#counts, count: this.count, sum: this.#sum / 1_000_000 };
  }

  encode(): EncodedHistogram {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}
