import assert from "node:assert/strict";
import { test } from "node:test";
import { MUTANTS } from "./all.ts";
import { ProjectCopy } from "./copy.ts";
import { nameOf } from "./judge.ts";
import type { Mutant } from "./mutant.ts";

/** Puts the first mutants of all files together, then the second ones, and so on: those of a round can be tried at once. */
function rounds(mutants: readonly Mutant[]): Mutant[][] {
  const found: Mutant[][] = [];
  const counts = new Map<string, number>();
  for (const mutant of mutants) {
    const at = counts.get(mutant.file) ?? 0;
    counts.set(mutant.file, at + 1);
    (found[at] ??= []).push(mutant);
  }
  return found;
}

// A change of the code around it may leave a mutant with a mistake in its types. It is found here, however few mutants are judged.
test("each mutant compiles", async (t) => {
  const copy = new ProjectCopy(AbortSignal.timeout(2_400_000));
  t.after(() => copy.remove());
  await copy.checkTypes();
  // Each round is a test of its own: on a busy machine all of them take longer than a test may be silent.
  for (const [at, round] of rounds(MUTANTS).entries())
    await t.test(`round ${at + 1}`, async () => assert.deepEqual(await findWrong(round, copy), []));
});

/** Returns those of a round that do not compile, each with why. */
async function findWrong(round: readonly Mutant[], copy: ProjectCopy): Promise<string[]> {
  const errors = await copy.typeErrorsOf(round);
  if (errors === "") return [];
  const wrong: string[] = [];
  // Two of them may disagree where each alone is right.
  for (const mutant of round.length > 1 ? round.filter(({ file }) => errors.includes(file)) : round) {
    const alone = await copy.typeErrorsOf([mutant]);
    if (alone !== "") wrong.push(`${nameOf(mutant)}\n${alone}`);
  }
  return wrong;
}
