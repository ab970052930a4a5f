/** Two neighbouring buckets differ by this factor, so that a quantile is wrong by 1 % at most. */
const FACTOR = 1.02;
const LOG_FACTOR = Math.log(FACTOR);

const NONE = new Float64Array();

/** More than the numbers of any bucket. */
const COUNTS = 2 ** 32;

/** Returns a bucket and its count as one number. They sort by their buckets. @param place how far the bucket is above the least one */
export function packBucket(place: number, count: number): number {
  return place * COUNTS + count;
}

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
  /** In place of counts, until more is asked than a quantile: packed buckets in their order, some of them of the same number. */
  #packed: Float64Array | null = null;
  #least = 0;

  /**
   * Returns the distribution of packed buckets. A long report has thousands, of which each is only asked for two quantiles.
   * @param packed is sorted, and is the distribution's own from then on
   * @param least the bucket that they are counted from
   */
  static ofPacked(packed: Float64Array, least: number): Distribution {
    const distribution = new Distribution();
    distribution.#packed = packed.sort();
    distribution.#least = least;
    for (let at = 0; at < packed.length; at += 1) distribution.#count += (packed[at] ?? 0) % COUNTS;
    return distribution;
  }

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
    this.#unpack();
    const counts = (this.#counts ??= new Map());
    const known = counts.get(bucket);
    counts.set(bucket, (known ?? 0) + count);
    this.#count += count;
    if (known === undefined) this.#order = null;
  }

  /** Adds a packed bucket. */
  addPacked(packed: number, least: number): void {
    this.addBucket(Math.floor(packed / COUNTS) + least, packed % COUNTS);
  }

  /** Adds all numbers of another one. */
  addAll(other: Distribution): void {
    this.#unpack();
    other.#unpack();
    if (this.#counts === null && other.#counts !== null) {
      this.#counts = new Map(other.#counts);
      this.#count = other.#count;
      return;
    }
    for (const [bucket, count] of other.#counts ?? []) this.addBucket(bucket, count);
  }

  /** Returns it as text: the numbers of its buckets, each followed by its count, with spaces between. */
  encode(): string {
    this.#unpack();
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
    const packed = this.#packed ?? NONE;
    for (let at = 0; at < packed.length; at += 1) {
      const one = packed[at] ?? 0;
      rank -= one % COUNTS;
      if (rank <= 0) return valueOf(Math.floor(one / COUNTS) + this.#least);
    }
    const counts = this.#counts ?? new Map<number, number>();
    this.#order ??= [...counts.keys()].sort((one, other) => one - other);
    for (const bucket of this.#order) {
      rank -= counts.get(bucket) ?? 0;
      if (rank <= 0) return valueOf(bucket);
    }
    return null;
  }

  #unpack(): void {
    const packed = this.#packed;
    if (packed === null) return;
    this.#packed = null;
    this.#count = 0;
    for (const one of packed) this.addPacked(one, this.#least);
  }
}

/** Returns the middle of a bucket, where the error to both sides is the same. */
function valueOf(bucket: number): number {
  return (2 * FACTOR ** bucket) / (1 + FACTOR);
}

/** Yields the buckets of an encoded distribution, each with its count. */
export function* bucketsOf(text: string): Generator<[bucket: number, count: number]> {
  if (text === "") return;
  const data = text.split(" ");
  for (let at = 0; at + 1 < data.length; at += 2) yield [Number(data[at]), Number(data[at + 1])];
}
