/** By how much the two clocks may differ before one of them has leapt: the wall clock is adjusted, and they are read one after the other. */
const TOLERANCE_MS = 1_000;

/**
 * The time that passes, also while the machine sleeps, and that setting its clock does not change. The monotonic clock may stand still
 * during a sleep. If the wall clock leaps against it, the time since the machine's start says whether it was one. That takes 18 µs, so it is
 * not asked otherwise. Sleeps of less than a second are left out.
 */
export class MachineTime {
  #wall: number;
  #monotonic: number;
  #sinceBoot: number;
  #passed = 0;

  /** All in milliseconds: since 1970, since any time, and since the machine's start. */
  constructor(wall: number, monotonic: number, sinceBoot: number) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#sinceBoot = sinceBoot;
  }

  /** Returns the milliseconds since the first reading. `sinceBoot` is called after a leap only. */
  read(wall: number, monotonic: number, sinceBoot: () => number): number {
    const awake = monotonic - this.#monotonic;
    if (Math.abs(wall - this.#wall - awake) <= TOLERANCE_MS) return this.#passed + awake;
    const boot = sinceBoot();
    this.#passed += Math.max(awake, boot - this.#sinceBoot);
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#sinceBoot = boot;
    return this.#passed;
  }
}
