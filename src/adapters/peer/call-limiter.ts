import { setTimeout } from "node:timers/promises";

const TIMEOUT_MS = 2_000;

/**
 * Limits calls that may never return, such as those to a network disk that does not respond or about a process that is
 * stuck in the kernel. Until such a call returns it blocks one of Node's four pool threads, which also read the kernel's
 * tables and key files.
 */
export class CallLimiter {
  readonly #maxPending: number;
  #pending = 0;

  /** @param maxPending how many calls may be pending at a time; further ones are not made */
  constructor(maxPending: number) {
    this.#maxPending = maxPending;
  }

  /** Resolves to the call's result; to undefined when it takes longer than two seconds, or when too many are pending. */
  async run<T>(call: () => Promise<T>): Promise<T | undefined> {
    if (this.#pending >= this.#maxPending) return undefined;
    this.#pending += 1;
    const result = call().finally(() => (this.#pending -= 1));
    return Promise.race([result, setTimeout(TIMEOUT_MS, undefined, { ref: false })]);
  }
}
