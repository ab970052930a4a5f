import { Distribution } from "../distribution.ts";
import { LEAST_BUCKET, type Column, type SumBlock } from "./sum-block.ts";

/** The times of a row of sums. */
interface RowTimes {
  ttft: Distribution;
  speed: Distribution;
}

/** The times of the groups of many days, which are read when they are first asked for. */
export class SumTimes {
  readonly #blocks: { rows: Int32Array; times: SumBlock["times"] }[] = [];
  readonly #byRow = new Map<number, RowTimes>();

  /** @param rows to which row each group is added; negative for none */
  add(rows: Int32Array, times: SumBlock["times"]): void {
    this.#blocks.push({ rows, times });
  }

  /** Returns the times of a row. */
  of(row: number): RowTimes {
    for (const { rows, times } of this.#blocks.splice(0)) {
      const { ttft_buckets, ttft_bucket, ttft_count, speed_buckets, speed_bucket, speed_count } = times();
      this.#addBuckets("ttft", rows, ttft_buckets, ttft_bucket, ttft_count);
      this.#addBuckets("speed", rows, speed_buckets, speed_bucket, speed_count);
    }
    return this.#timesOf(row);
  }

  #addBuckets(
    name: keyof RowTimes,
    rows: Int32Array,
    perGroup: Column,
    buckets: Column,
    counts: Column,
  ): void {
    let next = 0;
    for (const [group, row] of rows.entries()) {
      const end = next + (perGroup[group] ?? 0);
      if (row >= 0 && end > next) {
        const distribution = this.#timesOf(row)[name];
        for (let at = next; at < end; at += 1)
          distribution.addBucket((buckets[at] ?? 0) + LEAST_BUCKET, counts[at] ?? 0);
      }
      next = end;
    }
  }

  #timesOf(row: number): RowTimes {
    let times = this.#byRow.get(row);
    if (times === undefined)
      this.#byRow.set(row, (times = { ttft: new Distribution(), speed: new Distribution() }));
    return times;
  }
}
