import { setImmediate } from "node:timers/promises";

/** Short enough that a request which waits meanwhile is not delayed noticeably. */
const SLICE_MS = 0.5;

/**
 * Runs a generator of many small steps in slices, and yields to the event loop between them. Stops after `maxSteps`.
 * Resolves to the CPU time that the steps took, in milliseconds.
 */
export async function runInSlices(work: Generator<void, void>, maxSteps: number): Promise<number> {
  let workedMs = 0;
  let stepsLeft = maxSteps;
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
    // Runs the generator's `finally` blocks, which close a directory.
    work.return();
  }
}
