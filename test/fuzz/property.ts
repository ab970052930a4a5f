import * as fc from "fast-check";

/** Something that must hold for every input, and how to look for one for which it does not. */
export interface Property {
  /** The subject, a colon, and what holds of it. */
  name: string;
  /** Why it cannot be tried here; null when it can. */
  missing: string | null;
  /** Tries a batch of random cases, those that broke it once before all others. The same seed makes the same cases. */
  tryBatch(seed: number): Promise<Batch>;
}

/** What came of a batch. */
export interface Batch {
  cases: number;
  /** The smallest case that breaks the property, and how to meet it again; null when it held. */
  finding: string | null;
}

interface Options<Case> {
  /** Random cases in one batch: as many as take a quarter of a second or so. */
  batch: number;
  /** Cases that broke the property once, each with a line on what it found. */
  found?: Case[];
  missing?: string | null;
}

/** Making a case smaller could take for ever; one that is not the smallest is a finding too. */
const BATCH_LIMIT_MS = 30_000;

/** Names what fast-check is to try. */
export function property<Case>(
  name: string,
  { batch, found = [], missing = null }: Options<Case>,
  tried: fc.IRawProperty<Case>,
): Property {
  return {
    name,
    missing,
    async tryBatch(seed) {
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

/** A seed for a batch that nobody has asked for in particular. */
export function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
