import { changesSinceTag, isShallow, linesAddedSince, timesOfChanges } from "../run/changes.ts";
import { MUTANTS } from "./all.ts";
import type { Mutant } from "./mutant.ts";

/** Mutants to try, and why these. */
export interface Choice {
  mutants: readonly Mutant[];
  why: string;
}

/** The mutants of these rows; all when there is no row. */
export function chooseRows(rows: readonly string[]): Choice {
  const mutants = MUTANTS.filter(({ row }) => rows.length === 0 || rows.includes(row));
  return { mutants, why: `${mutants.length} of ${MUTANTS.length} rules` };
}

/**
 * The mutants whose source, test or own lines have changed since the last release, those with the newest changes first. In a clone without
 * a tag any may have changed, so that all are chosen.
 * @param root the clone
 */
export function chooseChanged(mutants: readonly Mutant[] = MUTANTS, root?: string): Choice {
  const changes = changesSinceTag(root);
  const chosen = changes === null ? mutants : mutants.filter(isChanged);
  const without = isShallow(root)
    ? "this shallow clone has no tag of a release"
    : "no release has a tag before this commit";
  const since = changes === null ? `all may have changed: ${without}` : `changed since ${changes.since}`;
  return {
    mutants: newestFirst(chosen, timesOfChanges(root), changes?.files ?? []),
    why: `${chosen.length} of ${mutants.length} rules: ${since}`,
  };

  function isChanged({ file, test, without: rule }: Mutant): boolean {
    if (changes === null || changes.files.includes(file) || changes.files.includes(test)) return true;
    return linesAddedSince(changes.commit, "test/mutants", root).some((line) => line.includes(rule));
  }
}

/** What is not in any commit yet is the newest, if it has changed. */
function newestFirst(
  mutants: readonly Mutant[],
  times: ReadonlyMap<string, number>,
  changed: readonly string[],
): Mutant[] {
  const timeOf = (path: string) => times.get(path) ?? (changed.includes(path) ? Infinity : 0);
  const newest = ({ file, test }: Mutant) => Math.max(timeOf(file), timeOf(test));
  const timed = mutants.map((mutant) => ({ mutant, time: newest(mutant) }));
  return timed.sort((a, b) => (a.time === b.time ? 0 : b.time - a.time)).map(({ mutant }) => mutant);
}

/** Brings the mutants of each test file together, because that file must first pass with every rule in place. Keeps the order otherwise. */
export function groupByTest(mutants: readonly Mutant[]): Mutant[][] {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of mutants) {
    const group = groups.get(mutant.test);
    if (group === undefined) groups.set(mutant.test, [mutant]);
    else group.push(mutant);
  }
  return [...groups.values()];
}
