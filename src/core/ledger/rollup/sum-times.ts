import { Distribution } from "../distribution.ts";
import type { TallyTimes } from "../tally.ts";
import { LEAST_BUCKET, type Column, type SumBlock } from "./sum-block.ts";

/** The times of the groups of many days, which are read when they are first asked for. */
export class SumTimes {
  readonly #blocks: { rows: Int32Array; times: SumBlock["times"] }[] = [];
  readonly #byRow = new Map<number, TallyTimes>();

  /** @param rows to which row each group is added; negative for none */
  add(rows: Int32Array, times: SumBlock["times"]): void {
    this.#blocks.push({ rows, times });
  }

  /** Adds times of one row, whose records were read. */
  addTo(row: number, { ttft, speed }: TallyTimes): void {
    if (ttft.isEmpty && speed.isEmpty) return;
    const times = this.#timesOf(row);
    times.ttft.addAll(ttft);
    times.speed.addAll(speed);
  }

  /** Returns the times of these rows together. */
  of(wanted: readonly number[]): TallyTimes {
    this.#read();
    const all = noTimes();
    for (const row of wanted) {
      const times = this.#byRow.get(row);
      if (times === undefined) continue;
      all.ttft.addAll(times.ttft);
      all.speed.addAll(times.speed);
    }
    return all;
  }

  #read(): void {
    for (const { rows, times } of this.#blocks.splice(0)) {
      const { ttft_buckets, ttft_bucket, ttft_count, speed_buckets, speed_bucket, speed_count } = times();
      this.#addBuckets("ttft", rows, ttft_buckets, ttft_bucket, ttft_count);
      this.#addBuckets("speed", rows, speed_buckets, speed_bucket, speed_count);
    }
  }

  #addBuckets(
    name: keyof TallyTimes,
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

  #timesOf(row: number): TallyTimes {
    let times = this.#byRow.get(row);
    if (times === undefined) this.#byRow.set(row, (times = noTimes()));
    return times;
  }
}

function noTimes(): TallyTimes {
  return { ttft: new Distribution(), speed: new Distribution() };
}
