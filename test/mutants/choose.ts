import { changesSinceTag, isShallow, linesAddedSince, timesOfChanges, timesOfLines } from "../run/changes.ts";
import { MUTANTS } from "./all.ts";
import type { Mutant } from "./mutant.ts";

/** Where the mutants are. */
const DIRECTORY = "test/mutants";

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
 * The mutants whose source, test or own lines have changed since the last release. In a clone without a tag any may have changed, so that
 * all are chosen. Those with the newest changes come first: by the last commit of one of the three, and before them what is in none yet.
 * @param root the clone
 */
export function chooseChanged(mutants: readonly Mutant[] = MUTANTS, root?: string): Choice {
  const changes = changesSinceTag(root);
  const added = changes === null ? [] : linesAddedSince(changes.commit, DIRECTORY, root);
  const chosen = changes === null ? mutants : mutants.filter(isChanged);
  const without = isShallow(root)
    ? "this shallow clone has no tag of a release"
    : "no release has a tag before this commit";
  const since = changes === null ? `all may have changed: ${without}` : `changed since ${changes.since}`;
  return {
    mutants: newestFirst(chosen, root),
    why: `${chosen.length} of ${mutants.length} rules: ${since}`,
  };

  function isChanged({ file, test, without: rule }: Mutant): boolean {
    if (changes === null || changes.files.includes(file) || changes.files.includes(test)) return true;
    return added.some((line) => line.includes(rule));
  }
}

function newestFirst(mutants: readonly Mutant[], root?: string): Mutant[] {
  const files = timesOfChanges(root);
  const lines = [...timesOfLines(DIRECTORY, root)];
  const newest = ({ file, test, without }: Mutant) => {
    const own = lines.filter(([line]) => line.includes(without)).map(([, time]) => time);
    return Math.max(files.get(file) ?? 0, files.get(test) ?? 0, ...own);
  };
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
