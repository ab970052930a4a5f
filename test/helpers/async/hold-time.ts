import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";

/** Stops `setTimeout` and `performance.now` for the test. Returns a function that lets milliseconds pass. */
export function holdTime(t: TestContext): (ms: number) => void {
  // An integer, as the sums of times must be exact.
  let now = Math.ceil(performance.now());
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  return (ms) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
}

/** Calls `pass`, which lets time pass, once per turn of the event loop until the promise settles. */
export async function passTimeUntil(settled: Promise<unknown>, pass: () => void): Promise<void> {
  const done = settled.then(() => true);
  while (!(await Promise.race([done, setImmediate(false)]))) pass();
}
