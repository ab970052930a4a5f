import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "./copy.ts";
import { Judge, type Copy, type Judged, type JudgeParts } from "./judge.ts";
import type { Mutant } from "./mutant.ts";

type Kind = Verdict["kind"];

const mutant = (name: string, file = "a"): Mutant => ({
  row: "A1",
  without: name,
  file: `src/${file}.ts`,
  test: `test/${file}.test.ts`,
  find: "x",
  replace: "y",
});

/** What a copy says, one after another: of a mutant by its name, of a test file with every rule in place. */
interface Script {
  verdicts?: Record<string, Kind[]>;
  failures?: (string | null)[];
  /** How many tests of each file are skipped. */
  skipped?: number;
  /** How long a test file takes with every rule in place, and what is left of the time before each mutant. */
  usualMs?: number;
  msLeft?: number[];
}

/** Judges with one copy that does as it is told. Resolves with the names of what it tried, what was printed, and how it ended. */
async function judge(mutants: readonly Mutant[], script: Script, parts: Partial<JudgeParts> = {}) {
  const { verdicts = {}, failures = [], skipped = 0, usualMs = 100, msLeft = [] } = script;
  const [tried, lines] = [[] as string[], [] as string[]];
  const copy: Copy = {
    preparingMs: 1_000,
    checkTypes: () => Promise.resolve(),
    runTest: () => Promise.resolve({ failure: failures.shift() ?? null, skipped, ms: usualMs }),
    try: ({ without }) => {
      tried.push(without);
      return Promise.resolve({ kind: verdicts[without]?.shift() ?? "noticed", detail: "" });
    },
    remove: () => {},
  };
  const judged = await new Judge(mutants, {
    copies: 1,
    openCopy: () => copy,
    usesProgram: () => false,
    msLeft: () => msLeft.shift() ?? Infinity,
    signal: new AbortController().signal,
    print: (line) => lines.push(line),
    ...parts,
  }).run();
  return { tried, lines, ...namesOf(judged) };
}

const names = (list: readonly Mutant[]) => list.map(({ without }) => without);

function namesOf({ noticed, unnoticed, waiting, stopped }: Judged): Record<keyof Judged, string[]> {
  return {
    noticed: names(noticed),
    unnoticed: names(unnoticed),
    waiting: names(waiting),
    stopped: names(stopped),
  };
}

for (const [first, second, isNoticed] of [
  ["survives", "survives", false],
  ["wrong", "wrong", false],
  ["survives", "wrong", false],
  ["survives", "noticed", true],
  ["wrong", "noticed", true],
] as const) {
  test(`a mutant that first ${first} and then ${second} counts as ${isNoticed ? "noticed" : "unnoticed"}`, async () => {
    const { tried, noticed, unnoticed } = await judge([mutant("one"), mutant("two")], {
      verdicts: { one: [first, second] },
    });
    assert.deepEqual(tried, ["one", "one", "two"]);
    assert.deepEqual(noticed, isNoticed ? ["one", "two"] : ["two"]);
    assert.deepEqual(unnoticed, isNoticed ? [] : ["one"]);
  });
}

test("the mutants of a test that fails twice with every rule in place count as unnoticed, and are not tried", async () => {
  const { tried, lines, noticed, unnoticed } = await judge([mutant("one"), mutant("two", "b")], {
    failures: ["serves", "serves"],
  });
  assert.deepEqual([tried, noticed, unnoticed], [["two"], ["two"], ["one"]]);
  assert.match(lines[0] ?? "", /^FAILS twice with every rule in place.*test\/a\.test\.ts\n +serves$/);
});

test("a test that fails once with every rule in place may have failed by chance: its mutants are tried", async () => {
  const { lines, noticed } = await judge([mutant("one")], { failures: ["serves", null] });
  assert.deepEqual(noticed, ["one"]);
  assert.match(lines[0] ?? "", /^FAILS at times with every rule in place/);
});

test("a mutant is not begun when less time is left than preparing it and its test usually take; a quicker one may be", async () => {
  const { tried, noticed, waiting, stopped } = await judge(
    [mutant("one"), mutant("two"), mutant("three", "b")],
    { msLeft: [1_100, 1_099] },
  );
  assert.deepEqual(tried, ["one", "three"]);
  assert.deepEqual([noticed, waiting, stopped], [["one", "three"], ["two"], []]);
});

test("a mutant that lives is not judged where some of its tests are skipped, because one of those may notice it", async () => {
  const { tried, lines, noticed, unnoticed, waiting } = await judge([mutant("one"), mutant("two")], {
    verdicts: { one: ["survives"] },
    skipped: 3,
  });
  assert.deepEqual([tried, noticed, unnoticed, waiting], [["one", "two"], ["two"], [], ["one"]]);
  assert.match(lines[1] ?? "", /3 tests of this file are skipped on this machine/);
});

test("a mutant that lived once is not judged when there is no time to try it again", async () => {
  const { tried, unnoticed, waiting } = await judge([mutant("one")], {
    verdicts: { one: ["survives"] },
    msLeft: [2_000, 900],
  });
  assert.deepEqual([tried, unnoticed, waiting], [["one"], [], ["one"]]);
});

test("what is being tried when the time is over is stopped, and nothing else is begun", async () => {
  const end = new AbortController();
  const copy: Copy = {
    preparingMs: 0,
    checkTypes: () => Promise.resolve(),
    runTest: () => Promise.resolve({ failure: null, skipped: 0, ms: 0 }),
    try: () => {
      end.abort();
      return Promise.reject(end.signal.reason as Error);
    },
    remove: () => {},
  };
  const { noticed, unnoticed, waiting, stopped } = await judge(
    [mutant("one"), mutant("two")],
    {},
    { openCopy: () => copy, signal: end.signal },
  );
  assert.deepEqual([noticed, unnoticed, waiting, stopped], [[], [], ["one", "two"], ["one"]]);
});

test("a fault of the machinery is none of a mutant: it is thrown, and the copy is removed", async () => {
  let removed = 0;
  const copy: Copy = {
    preparingMs: 0,
    checkTypes: () => Promise.reject(new Error("no compiler")),
    runTest: () => assert.fail("not run"),
    try: () => assert.fail("not tried"),
    remove: () => (removed += 1),
  };
  await assert.rejects(judge([mutant("one")], {}, { openCopy: () => copy }), /no compiler/);
  assert.equal(removed, 1);
});
