import { setImmediate } from "node:timers/promises";

/** Work that is done in many small steps of about the same length. */
export type Steps = Generator<void, void>;

/**
 * Does at most `maxSteps` steps of the work, in slices of `sliceSteps`, and yields to the event loop between them. Resolves to
 * the number of steps. Counts steps and not time: on a busy machine most of the time that passes is other programs'.
 */
export async function runInSlices(work: Steps, sliceSteps: number, maxSteps: number): Promise<number> {
  let done = 0;
  for (;;) {
    const slice = Math.min(sliceSteps, maxSteps - done);
    const steps = advance(work, slice);
    done += steps;
    if (steps < slice || done === maxSteps) break;
    await setImmediate();
  }
  end(work);
  return done;
}

/** Does at most `maxSteps` steps of the work at once. Returns the number of steps. */
export function runAtOnce(work: Steps, maxSteps: number): number {
  const done = advance(work, maxSteps);
  end(work);
  return done;
}

function advance(work: Steps, steps: number): number {
  for (let done = 0; done < steps; done += 1) if (work.next().done === true) return done;
  return steps;
}

/** Runs the work's `finally` blocks, which close a directory. */
function end(work: Steps): void {
  work.return();
}
