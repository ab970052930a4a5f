import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";

/** Stops time for the test: `setTimeout` and `performance.now`. Returns the function that lets milliseconds pass. */
export function holdTime(t: TestContext): (ms: number) => void {
  let now = performance.now();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  return (ms) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
}

/** Calls `pass`, which lets time pass, once per turn of the event loop until the promise settles. */
export async function passTimeUntil(settled: Promise<unknown>, pass: () => void): Promise<void> {
  let isSettled = false;
  const watched = settled.finally(() => (isSettled = true));
  watched.catch(() => {});
  while (!isSettled) {
    await setImmediate();
    pass();
  }
  await watched;
}
