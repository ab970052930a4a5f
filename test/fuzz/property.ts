import * as fc from "fast-check";

/** A statement that must hold for every input, and the search for a counterexample. */
export interface Property {
  /** The subject, a colon, and what must hold. */
  name: string;
  /** Why it cannot be checked here; null when it can. */
  missing: string | null;
  /** Checks a batch of random cases after all past counterexamples. The same seed makes the same cases. */
  runBatch(seed: number): Promise<Batch>;
}

/** The result of a batch. */
export interface Batch {
  cases: number;
  /** The smallest counterexample and how to reproduce it; null when the property held. */
  finding: string | null;
}

interface Options<Case> {
  /** Random cases in one batch: as many as take about a quarter of a second. */
  batch: number;
  /** Past counterexamples, each with a comment on the fault that it revealed. */
  found?: Case[];
  missing?: string | null;
}

/** Ends the search for a smaller counterexample. A larger one is also a finding. */
const BATCH_LIMIT_MS = 30_000;

/** Makes a property that fast-check checks. */
export function property<Case>(
  name: string,
  { batch, found = [], missing = null }: Options<Case>,
  tried: fc.IRawProperty<Case>,
): Property {
  return {
    name,
    missing,
    async runBatch(seed) {
      const details = await fc.check(tried, {
        seed,
        numRuns: found.length + batch,
        examples: found,
        includeErrorInReport: true,
        interruptAfterTimeLimit: BATCH_LIMIT_MS,
      });
      const report = fc.defaultReportMessage(details);
      const again = `again: npm run fuzz -- --seed ${seed} ${JSON.stringify(name)}`;
      return {
        cases: details.numRuns,
        finding: report === undefined ? null : `${name}\n${report}\n${again}`,
      };
    },
  };
}

/** A random seed. */
export function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
