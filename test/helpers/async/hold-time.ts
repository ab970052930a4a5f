import type { TestContext } from "node:test";

/** From now on no time passes but by the function that is returned, which takes milliseconds. */
export function holdTime(t: TestContext): (ms: number) => void {
  let now = performance.now();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  return (ms) => {
    now += ms;
    t.mock.timers.tick(ms);
  };
}
