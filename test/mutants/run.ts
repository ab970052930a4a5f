// `npm run mutants [ROW...]`: removes rules, one at a time in a copy of the project. Each time the test of that rule must fail.
// `npm run mutants -- --changed`: only rules whose source or test has changed since the last release; with `--minutes N`, as many as
// that time allows, and the names of the others.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { readDependencies, type Dependencies } from "../run/dependencies.ts";
import { chooseChanged, chooseRows, groupByTest, type Choice } from "./choose.ts";
import { ProjectCopy, type Verdict } from "./copy.ts";
import type { Mutant } from "./mutant.ts";

const WORDS: Record<Verdict["kind"], string> = { noticed: "red  ", survives: "GREEN", wrong: "ERROR" };

const { values, positionals } = parseArgs({
  options: { changed: { type: "boolean", default: false }, minutes: { type: "string" } },
  allowPositionals: true,
});

const nameOf = ({ row, without, test }: Mutant) => `${row}  without ${without}  (${test})`;

/** Tries the mutants of a test file, unless it already fails with every rule in place. Those that are tried leave `waiting`. */
async function tryGroup(
  group: readonly Mutant[],
  copy: ProjectCopy,
  usesProgram: boolean,
  waiting: Set<Mutant>,
): Promise<Mutant[]> {
  const test = group[0]?.test ?? "";
  const usual = await copy.runTest(test);
  if (usual.failure !== null) {
    console.log(
      `FAILS with every rule in place, so that it proves nothing: ${test}\n         ${usual.failure}`,
    );
    for (const mutant of group) waiting.delete(mutant);
    return [...group];
  }
  const unnoticed: Mutant[] = [];
  for (const mutant of group) {
    const { kind, detail } = await copy.try(mutant, usesProgram, usual.ms);
    waiting.delete(mutant);
    console.log(`${WORDS[kind]} ${nameOf(mutant)}${detail.trimEnd().replaceAll(/^/gm, "\n         ")}`);
    if (kind !== "noticed") unnoticed.push(mutant);
  }
  return unnoticed;
}

/** Tries them in as many copies as there are processors. Returns those that no test has noticed; `waiting` keeps those not tried. */
async function tryAll(
  waiting: Set<Mutant>,
  dependencies: Dependencies,
  signal: AbortSignal,
): Promise<Mutant[]> {
  const groups = groupByTest([...waiting]);
  const unnoticed: Mutant[] = [];
  const work = async (): Promise<void> => {
    const copy = new ProjectCopy(signal);
    try {
      await copy.build();
      for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
        const usesProgram = dependencies.startsProgram(group[0]?.test ?? "");
        unnoticed.push(...(await tryGroup(group, copy, usesProgram, waiting)));
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(groups.length, availableParallelism()) }, work));
  return unnoticed;
}

/** Aborted by a signal to this process, or when the minutes are over. */
function endOfWork(minutes: string | undefined): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(name, () => {
      process.exitCode = 1;
      interrupted.abort();
    });
  const limits = minutes === undefined ? [] : [AbortSignal.timeout(Number(minutes) * 60_000)];
  return AbortSignal.any([interrupted.signal, ...limits]);
}

async function run({ mutants, why }: Choice): Promise<void> {
  const startedAt = performance.now();
  const signal = endOfWork(values.minutes);
  console.log(why);
  const waiting = new Set(mutants);
  const unnoticed = await tryAll(waiting, await readDependencies(), signal);
  for (const mutant of waiting) console.log(`NOT TRIED ${nameOf(mutant)}`);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const tried = mutants.length - waiting.size;
  const left = waiting.size === 0 ? "" : `; ${waiting.size} not tried, for lack of time`;
  console.log(`${tried} rules removed, ${unnoticed.length} of them unnoticed, in ${seconds} s${left}`);
  for (const mutant of unnoticed) console.log(`UNNOTICED ${nameOf(mutant)}`);
  if (unnoticed.length > 0) process.exitCode = 1;
}

const choice = values.changed ? chooseChanged() : chooseRows(positionals);
if (choice.mutants.length === 0 && !values.changed) {
  console.error(`error: no rule has a row ${positionals.join(", ")}`);
  process.exitCode = 1;
} else await run(choice);
