/** Clocks that are adjusted, and delays between two readings, make no leap. */
const TOLERANCE_MS = 5_000;

/** How long a clock that has leapt ahead must run on before it is believed. */
const DOUBT_MS = 60_000;

/**
 * The time by which windows open. It is that of the wall clock, except after a leap ahead: of more than 5 seconds beyond what the
 * monotonic clock says has passed. Then it runs on from where it was for a minute, and follows only if the wall clock is still ahead. So a
 * wrong time that is corrected within a minute, as after a virtual machine was restored, opens no window. A computer that was suspended
 * looks the same, because the monotonic clock stood still: its windows open after a minute.
 *
 * A clock that is set back is believed at once: what has been spent in the time after it still counts (gauge.ts).
 */
export class BudgetClock {
  #wall: number;
  #monotonic: number;
  /** The time that is believed, at the monotonic time of the last reading. */
  #time: number;
  /** The monotonic time at which doubt began; null without any. */
  #doubtedSince: number | null = null;

  /** Both in milliseconds; a monotonic clock begins anywhere. The first reading is believed. */
  constructor(wall: number, monotonic: number) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#time = wall;
  }

  /** Returns the time in milliseconds since 1970, by the clocks' present readings. */
  read(wall: number, monotonic: number): number {
    const passed = monotonic - this.#monotonic;
    const isLeap = wall - this.#wall > passed + TOLERANCE_MS;
    this.#time += passed;
    this.#wall = wall;
    this.#monotonic = monotonic;
    const isAhead = wall > this.#time + TOLERANCE_MS;
    if (!isAhead) this.#doubtedSince = null;
    else if (isLeap) this.#doubtedSince = monotonic;
    if (this.#doubtedSince === null || monotonic - this.#doubtedSince >= DOUBT_MS) {
      this.#doubtedSince = null;
      this.#time = wall;
    }
    return this.#time;
  }
}
