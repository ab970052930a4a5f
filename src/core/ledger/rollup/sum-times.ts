import { Distribution, packBucket } from "../times/distribution.ts";
import type { TallyTimes } from "../tally.ts";
import { LEAST_BUCKET, type Column, type SumBlock } from "./sum-block.ts";

/** The buckets of the groups of a block: how many each group has, the numbers of the buckets and their counts. */
interface GroupBuckets {
  /** The row of each group; negative for none. */
  rows: Int32Array;
  perGroup: Column;
  buckets: Column;
  counts: Column;
}

/** The times of the groups of many days, which are read when they are first asked for. */
export class SumTimes {
  readonly #blocks: { rows: Int32Array; times: SumBlock["times"] }[] = [];
  /** Those of records that were read. */
  readonly #added = new Map<number, TallyTimes>();
  #read: Readonly<Record<keyof TallyTimes, RowBuckets>> | null = null;

  /** @param rows to which row each group is added; negative for none. Not after times were asked for */
  add(rows: Int32Array, times: SumBlock["times"]): void {
    this.#blocks.push({ rows, times });
  }

  /** Adds times of one row, whose records were read. */
  addTo(row: number, { ttft, speed }: TallyTimes): void {
    if (ttft.isEmpty && speed.isEmpty) return;
    let times = this.#added.get(row);
    if (times === undefined) this.#added.set(row, (times = noTimes()));
    times.ttft.addAll(ttft);
    times.speed.addAll(speed);
  }

  /** Returns the times of these rows together. */
  of(rows: readonly number[]): TallyTimes {
    this.#read ??= readTimes(this.#blocks.splice(0));
    const [only = NaN] = rows;
    if (rows.length === 1 && !this.#added.has(only))
      return { ttft: this.#read.ttft.at(only), speed: this.#read.speed.at(only) };
    const all = noTimes();
    for (const row of rows) {
      this.#read.ttft.addTo(all.ttft, row);
      this.#read.speed.addTo(all.speed, row);
      const added = this.#added.get(row);
      if (added === undefined) continue;
      all.ttft.addAll(added.ttft);
      all.speed.addAll(added.speed);
    }
    return all;
  }
}

function noTimes(): TallyTimes {
  return { ttft: new Distribution(), speed: new Distribution() };
}

function readTimes(blocks: readonly { rows: Int32Array; times: SumBlock["times"] }[]) {
  const read = blocks.map(({ rows, times }) => ({ rows, ...times() }));
  return {
    ttft: new RowBuckets(
      read.map(({ rows, ttft_buckets: perGroup, ttft_bucket: buckets, ttft_count: counts }) => ({
        rows,
        perGroup,
        buckets,
        counts,
      })),
    ),
    speed: new RowBuckets(
      read.map(({ rows, speed_buckets: perGroup, speed_bucket: buckets, speed_count: counts }) => ({
        rows,
        perGroup,
        buckets,
        counts,
      })),
    ),
  };
}

/** The buckets of many rows, those of each row together. Numbers without any object, because a year has millions. */
class RowBuckets {
  /** Where those of each row begin. */
  readonly #starts: Int32Array;
  readonly #packed: Float64Array;

  constructor(blocks: readonly GroupBuckets[]) {
    this.#starts = startsOf(blocks);
    this.#packed = new Float64Array(this.#starts.at(-1) ?? 0);
    const next = this.#starts.slice();
    for (const { rows, perGroup, buckets, counts } of blocks) {
      let from = 0;
      for (let group = 0; group < rows.length; group += 1) {
        const row = rows[group] ?? -1;
        const end = from + (perGroup[group] ?? 0);
        if (row >= 0)
          for (let at = from; at < end; at += 1) {
            const place = next[row] ?? 0;
            next[row] = place + 1;
            this.#packed[place] = packBucket(buckets[at] ?? 0, counts[at] ?? 0);
          }
        from = end;
      }
    }
  }

  /** Returns the distribution of a row. */
  at(row: number): Distribution {
    return Distribution.ofPacked(
      this.#packed.slice(this.#starts[row] ?? 0, this.#starts[row + 1] ?? 0),
      LEAST_BUCKET,
    );
  }

  /** Adds the buckets of a row to a distribution. */
  addTo(distribution: Distribution, row: number): void {
    const end = this.#starts[row + 1] ?? 0;
    for (let at = this.#starts[row] ?? 0; at < end; at += 1)
      distribution.addPacked(this.#packed[at] ?? 0, LEAST_BUCKET);
  }
}

/** Returns where the buckets of each row begin, and behind the last row how many there are. */
function startsOf(blocks: readonly GroupBuckets[]): Int32Array {
  let size = 0;
  for (const { rows } of blocks) for (const row of rows) size = Math.max(size, row + 1);
  const starts = new Int32Array(size + 1);
  for (const { rows, perGroup } of blocks)
    for (let group = 0; group < rows.length; group += 1) {
      const row = rows[group] ?? -1;
      if (row >= 0) starts[row + 1] = (starts[row + 1] ?? 0) + (perGroup[group] ?? 0);
    }
  for (let row = 0; row < size; row += 1) starts[row + 1] = (starts[row + 1] ?? 0) + (starts[row] ?? 0);
  return starts;
}
