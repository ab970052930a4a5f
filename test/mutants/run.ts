// `npm run mutants [ROW...]`: removes rules, one at a time in a copy of the project. Each time the test of that rule must fail.
// `npm run mutants -- --changed`: only rules whose source or test has changed since the last release, the newest change first; with
// `--minutes N`, as many as that time allows.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { readDependencies } from "../run/dependencies.ts";
import { chooseChanged, chooseRows, type Choice } from "./choose.ts";
import { ProjectCopy } from "./copy.ts";
import { Judge, nameOf } from "./judge.ts";
import type { Mutant } from "./mutant.ts";

const { values, positionals } = parseArgs({
  options: { changed: { type: "boolean", default: false }, minutes: { type: "string" } },
  allowPositionals: true,
});

/** From the start of this process, in milliseconds. */
const limitMs = values.minutes === undefined ? Infinity : Number(values.minutes) * 60_000;
const msLeft = () => limitMs - performance.now();

/** Aborted by a signal to this process, or when the time is over. */
function endOfWork(): AbortSignal {
  const end = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(name, () => {
      process.exitCode = 1;
      end.abort();
    });
  // Node 20 loses an AbortSignal.timeout() that only an AbortSignal.any() refers to.
  if (limitMs !== Infinity) setTimeout(() => end.abort(), Math.max(0, msLeft())).unref();
  return end.signal;
}

/** `A1 13, A2 4`. */
function countRows(mutants: readonly Mutant[]): string {
  const counts = new Map<string, number>();
  for (const { row } of mutants) counts.set(row, (counts.get(row) ?? 0) + 1);
  return [...counts].map((pair) => pair.join(" ")).join(", ");
}

async function run({ mutants, why }: Choice): Promise<void> {
  const signal = endOfWork();
  console.log(why);
  const dependencies = await readDependencies();
  const { noticed, unnoticed, waiting, stopped } = await new Judge(mutants, {
    copies: availableParallelism(),
    openCopy: () => new ProjectCopy(signal),
    usesProgram: (test) => dependencies.startsProgram(test),
    msLeft,
    signal,
    print: (line) => console.log(line),
  }).run();
  if (waiting.length > 0) console.log(`NOT JUDGED, by row: ${countRows(waiting)}`);
  for (const mutant of stopped) console.log(`STOPPED at the end: ${nameOf(mutant)}`);
  for (const mutant of unnoticed) console.log(`UNNOTICED ${nameOf(mutant)}`);
  const judged = noticed.length + unnoticed.length;
  const seconds = Math.round(performance.now() / 1000);
  const left = waiting.length === 0 ? "" : `; ${waiting.length} not judged`;
  console.log(
    `${judged} of ${mutants.length} rules judged in ${seconds} s, ${unnoticed.length} of them unnoticed${left}`,
  );
  if (unnoticed.length > 0) process.exitCode = 1;
}

const choice = values.changed ? chooseChanged() : chooseRows(positionals);
if (choice.mutants.length === 0 && !values.changed) {
  console.error(`error: no rule has a row ${positionals.join(", ")}`);
  process.exitCode = 1;
} else if (!(limitMs > 0)) {
  console.error(`error: --minutes ${values.minutes} is not a number of minutes`);
  process.exitCode = 1;
} else await run(choice);
