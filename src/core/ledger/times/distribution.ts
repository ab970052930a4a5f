/** Two neighbouring buckets differ by this factor, so that a quantile is wrong by 1 % at most. */
const FACTOR = 1.02;
const LOG_FACTOR = Math.log(FACTOR);

/**
 * The distribution of positive numbers, in bounded memory and without their order: how many lie in each of geometrically growing
 * buckets (Masson, Rim and Lee, "DDSketch", PVLDB 12(12), 2019).
 */
export class Distribution {
  /** By the number of the bucket. Most rows of a long report are never asked for theirs, and have none. */
  #counts: Map<number, number> | null = null;
  #count = 0;
  /** The buckets with numbers in their order, once a quantile was asked for. */
  #order: readonly number[] | null = null;

  /** True when it has no numbers. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds a number. Zero counts as the smallest number that matters here, a thousandth. */
  add(value: number): void {
    const bucket = Math.ceil(Math.log(Math.max(value, 0.001)) / LOG_FACTOR);
    this.addBucket(bucket, 1);
  }

  /** Adds so many numbers of a bucket. */
  addBucket(bucket: number, count: number): void {
    const counts = (this.#counts ??= new Map());
    const known = counts.get(bucket);
    counts.set(bucket, (known ?? 0) + count);
    this.#count += count;
    if (known === undefined) this.#order = null;
  }

  /** Adds all numbers of another one. */
  addAll(other: Distribution): void {
    if (this.#counts === null && other.#counts !== null) {
      this.#counts = new Map(other.#counts);
      this.#count = other.#count;
      return;
    }
    for (const [bucket, count] of other.#counts ?? []) this.addBucket(bucket, count);
  }

  /** Returns it as text: the numbers of its buckets, each followed by its count, with spaces between. */
  encode(): string {
    const sorted = [...(this.#counts ?? [])].toSorted(([one], [other]) => one - other);
    return sorted.flat().join(" ");
  }

  /** Adds what another one was encoded to. */
  addEncoded(text: string): void {
    for (const [bucket, count] of bucketsOf(text)) this.addBucket(bucket, count);
  }

  /** Returns the value that a share of the numbers does not exceed, such as the median for 0.5; null without numbers. */
  quantile(share: number): number | null {
    let rank = Math.max(1, Math.ceil(share * this.#count));
    const counts = this.#counts ?? new Map<number, number>();
    this.#order ??= [...counts.keys()].sort((one, other) => one - other);
    for (const bucket of this.#order) {
      rank -= counts.get(bucket) ?? 0;
      // The middle of the bucket, where the error to both sides is the same.
      if (rank <= 0) return (2 * FACTOR ** bucket) / (1 + FACTOR);
    }
    return null;
  }
}

/** Yields the buckets of an encoded distribution, each with its count. */
export function* bucketsOf(text: string): Generator<[bucket: number, count: number]> {
  if (text === "") return;
  const data = text.split(" ");
  for (let at = 0; at + 1 < data.length; at += 2) yield [Number(data[at]), Number(data[at + 1])];
}
