import { setImmediate } from "node:timers/promises";

/** Far below what anybody notices who waits for an answer meanwhile. */
const SLICE_MS = 0.5;

/**
 * Does work of many small steps in slices, between which requests have their turn; gives up after `mostSteps`. Resolves to
 * the time that it took of the processor, in milliseconds.
 */
export async function inSlices(work: Generator<void, void>, mostSteps: number): Promise<number> {
  let workedMs = 0;
  let stepsLeft = mostSteps;
  try {
    for (;;) {
      const began = performance.now();
      let isDone = false;
      let elapsed = 0;
      while (!isDone && elapsed < SLICE_MS) {
        isDone = stepsLeft === 0 || work.next().done === true;
        stepsLeft -= 1;
        elapsed = performance.now() - began;
      }
      workedMs += elapsed;
      if (isDone) return workedMs;
      await setImmediate();
    }
  } finally {
    // It may have a directory open.
    work.return();
  }
}
