// `npm test -- --changed [REF]`: which tests a change can affect.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { changesSince, type Changes } from "./changes.ts";
import { readDependencies, TIES, type Dependencies, type Tie } from "./dependencies.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A change to one of them, or to what the runner itself loads, can affect every test. */
const AFFECTS_ALL = ["package.json", "package-lock.json", "tsconfig.json"];
const RUNNER = "test/run.ts";

/** Where a change starts when nobody says so. A clone of a pull request may only have the second. */
const MAIN = ["main", "origin/main"];

/** The tests that a change can affect. */
export interface Affected {
  /** From the project's root. */
  tests: string[];
  /** Why these, for people to read. */
  why: string;
}

/**
 * Finds the tests among those given that can be affected by what has changed since `ref`: by what they import, by the built programs that
 * they start, and by the files that they name. Throws when git does not know `ref`.
 */
export async function findAffected(tests: readonly string[], ref: string | undefined): Promise<Affected> {
  const changes = (ref === undefined ? MAIN : [ref]).map((name) => changesSince(name)).find(Boolean);
  if (!changes) throw new Error(explainMissing(ref));
  return chooseAffected(tests, changes, await readDependencies());
}

function explainMissing(ref = MAIN.join(" or ")): string {
  return `this clone has no ${ref}, or not the commit where this branch left it\nhint: name a commit that it has, such as: npm test -- --changed HEAD~1`;
}

/** The choice by itself, without git. */
export function chooseAffected(
  tests: readonly string[],
  { since, files }: Pick<Changes, "since" | "files">,
  dependencies: Dependencies,
): Affected {
  const runner = dependencies.of(RUNNER, ["imports"]);
  const forAll = files.find((file) => AFFECTS_ALL.includes(file) || runner.has(file));
  if (forAll !== undefined)
    return {
      tests: [...tests],
      why: `all ${tests.length} test files: ${forAll} has changed since ${since}\n`,
    };
  const ties = new Map(tests.map((test) => [test, dependencies.tieTo(test, files)]));
  const affected = tests.filter((test) => ties.get(test) !== null);
  const alone = files.filter((file) => existsSync(join(ROOT, file)) && !hasTest(file, tests, dependencies));
  const summary = `${affected.length} of ${tests.length} test files: ${countOf(files.length, "file")} changed since ${since}`;
  const counts = TIES.map((tie) => countTie(tie, [...ties.values()].filter((own) => own === tie).length));
  const lines = [summary, ...counts, ...alone.map((file) => `no test depends on ${file}`)];
  return { tests: affected, why: `${lines.filter(Boolean).join("\n")}\n` };
}

function hasTest(file: string, tests: readonly string[], dependencies: Dependencies): boolean {
  return tests.some((test) => dependencies.tieTo(test, [file]) !== null);
}

const VERBS: Record<Tie, string> = {
  imports: "because of what they import",
  starts: "because they start the built program",
  reads: "because they name a file or its directory",
};

function countTie(tie: Tie, count: number): string {
  return count === 0 ? "" : `  ${count} ${VERBS[tie]}`;
}

function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
