import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { MUTANTS } from "./all.ts";
import { chooseChanged, chooseRows, groupByTest } from "./choose.ts";
import type { Mutant } from "./mutant.ts";

const mutant = (name: string): Mutant => ({
  row: "A1",
  without: `the rule of ${name}`,
  file: `src/${name}.ts`,
  test: `test/${name}.test.ts`,
  find: "x",
  replace: "y",
});

const [OLD, SOURCE, TEST, NEW_RULE] = ["old", "source", "test", "new-rule"].map(mutant) as [
  Mutant,
  Mutant,
  Mutant,
  Mutant,
];
const ALL = [OLD, SOURCE, TEST, NEW_RULE];

/** Writes these files with a text, and commits them at a time: seconds after the others. */
function makeRepository(t: TestContext) {
  const root = scratchDirectory(t);
  let time = 1_700_000_000;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: root,
      stdio: "pipe",
      env: { ...process.env, GIT_COMMITTER_DATE: `@${(time += 1)} +0000` },
    });
  const commit = (files: Record<string, string>) => {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(root, dirname(file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    git("add", "--all");
    git("commit", "--quiet", "--message=change");
  };
  git("init", "--quiet");
  commit(
    Object.fromEntries(
      ALL.flatMap(({ file, test: of }) => [
        [file, "1"],
        [of, "1"],
      ]),
    ),
  );
  return { root, git, commit };
}

test("the rules whose source, test or own lines have changed since the last release are tried, the newest change first", (t) => {
  const { root, git, commit } = makeRepository(t);
  git("tag", "v0.9.0");
  commit({ [OLD.file]: "2" });
  git("tag", "v1.0.0");
  git("tag", "not-a-release");
  commit({ [SOURCE.file]: "2" });
  commit({ [TEST.test]: "2" });
  commit({ "test/mutants/new.ts": `  without: "${NEW_RULE.without}",\n` });
  const { mutants, why } = chooseChanged(ALL, root);
  assert.deepEqual(mutants, [NEW_RULE, TEST, SOURCE]);
  assert.match(why, /^3 of 4 rules: changed since v1\.0\.0 \([0-9a-f]{8}\)$/);
});

test("what is in no commit yet is tried first: a source, a new test, the lines of a rule", (t) => {
  const { root, commit } = makeRepository(t);
  const rule = "test/mutants/new.ts";
  const newTest = { ...TEST, test: "test/not-added.test.ts" };
  commit({ [OLD.file]: "2", [rule]: "" });
  writeFileSync(join(root, SOURCE.file), "2");
  writeFileSync(join(root, newTest.test), "1");
  writeFileSync(join(root, rule), `  without: "${NEW_RULE.without}",\n`);
  const all = [OLD, TEST, SOURCE, newTest, NEW_RULE];
  assert.deepEqual(chooseChanged(all, root).mutants, [SOURCE, newTest, NEW_RULE, OLD, TEST]);
});

test("nothing is tried right after a release", (t) => {
  const { root, git } = makeRepository(t);
  git("tag", "v1.0.0");
  assert.deepEqual(chooseChanged(ALL, root).mutants, []);
});

test("without a release all rules are tried, the newest change first, and it is said why", (t) => {
  const { root, git, commit } = makeRepository(t);
  commit({ [TEST.file]: "2" });
  commit({ "test/mutants/new.ts": `  without: "${NEW_RULE.without}",\n` });
  commit({ [OLD.file]: "2", "test/mutants/old.ts": `  without: "another rule",\n` });
  const { mutants, why } = chooseChanged(ALL, root);
  assert.deepEqual(mutants, [OLD, NEW_RULE, TEST, SOURCE]);
  assert.equal(why, "4 of 4 rules: all may have changed: no release has a tag before this commit");
  const clone = join(scratchDirectory(t), "clone");
  git("clone", "--quiet", "--depth=1", "--no-tags", `file://${root}`, clone);
  const shallow = chooseChanged(ALL, clone);
  assert.equal(shallow.mutants.length, 4);
  assert.match(shallow.why, /: all may have changed: this shallow clone has no tag of a release$/);
});

test("rules are chosen by their rows; all without one", () => {
  assert.equal(chooseRows([]).mutants.length, MUTANTS.length);
  assert.ok(chooseRows(["A1", "connect"]).mutants.every(({ row }) => row === "A1" || row === "connect"));
  assert.deepEqual(chooseRows(["nobody"]).mutants, []);
});

test("rules of the same test file are tried together", () => {
  const same = { ...SOURCE, test: OLD.test };
  assert.deepEqual(groupByTest([OLD, TEST, same]), [[OLD, same], [TEST]]);
});
