/** Two neighbouring buckets differ by this factor, so that a quantile is wrong by 1 % at most. */
const FACTOR = 1.02;
const LOG_FACTOR = Math.log(FACTOR);

/**
 * The distribution of positive numbers, in bounded memory and without their order: how many lie in each of geometrically growing
 * buckets (Masson, Rim and Lee, "DDSketch", PVLDB 12(12), 2019).
 */
export class Distribution {
  /** By the number of the bucket. */
  readonly #counts = new Map<number, number>();
  #count = 0;

  /** Adds a number. Zero counts as the smallest number that matters here, a thousandth. */
  add(value: number): void {
    const bucket = Math.ceil(Math.log(Math.max(value, 0.001)) / LOG_FACTOR);
    this.#addCount(bucket, 1);
  }

  /** Adds all numbers of another one. */
  addAll(other: Distribution): void {
    for (const [bucket, count] of other.#counts) this.#addCount(bucket, count);
  }

  /** Returns it as data: the numbers of its buckets, each followed by its count. */
  encode(): number[] {
    return [...this.#counts].flat();
  }

  /** Adds what another one was encoded to. */
  addEncoded(data: readonly number[]): void {
    for (let at = 0; at + 1 < data.length; at += 2) this.#addCount(data[at] ?? 0, data[at + 1] ?? 0);
  }

  /** Returns the value that a share of the numbers does not exceed, such as the median for 0.5; null without numbers. */
  quantile(share: number): number | null {
    let rank = Math.max(1, Math.ceil(share * this.#count));
    for (const bucket of [...this.#counts.keys()].toSorted((one, other) => one - other)) {
      rank -= this.#counts.get(bucket) ?? 0;
      // The middle of the bucket, where the error to both sides is the same.
      if (rank <= 0) return (2 * FACTOR ** bucket) / (1 + FACTOR);
    }
    return null;
  }

  #addCount(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#count += count;
  }
}
