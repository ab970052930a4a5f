import { setTimeout } from "node:timers/promises";

const LIMIT_MS = 2_000;

/**
 * For calls that may never come back: a disk in the network that does not answer, a process that is stuck in the kernel.
 * Each holds one of Node's four threads until it does, and those read the kernel's tables, and keys, too.
 */
export class CallLimiter {
  readonly #most: number;
  #underWay = 0;

  /** @param most so many calls that have not come back, and no more are made */
  constructor(most: number) {
    this.#most = most;
  }

  /** What the call resolves to; undefined when it takes more than two seconds, and when too many are under way. */
  async await<T>(call: () => Promise<T>): Promise<T | undefined> {
    if (this.#underWay >= this.#most) return undefined;
    this.#underWay += 1;
    const called = call().finally(() => (this.#underWay -= 1));
    return Promise.race([called, setTimeout(LIMIT_MS, undefined, { ref: false })]);
  }
}
