// `npm test -- --changed`: what git says has changed, and which tests that can affect.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { chooseAffected } from "./affected.ts";
import { changesSince, changesSinceTag, isShallow } from "./changes.ts";
import { readDependencies } from "./dependencies.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TESTS = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => `test/${file}`);

/** Not written in one piece, because this test would then name it. */
const UNREAD = [".", "ci/as-user"].join("");

const dependencies = await readDependencies();

/** What runs because these files have changed. */
const affectedBy = (...files: string[]) => chooseAffected(TESTS, { since: "main", files }, dependencies);

for (const { change, runs, spares, why } of [
  {
    change: "src/core/http/admission.ts",
    runs: ["test/security/a1-dns-rebinding.test.ts", "test/cli/commands/usage.test.ts"],
    spares: ["test/core/price/money.test.ts", "test/core/budget/windows.test.ts"],
    why: "the sources that a test imports, through others, and those of the program that it starts",
  },
  {
    change: "src/cli/sums/worker.ts",
    runs: ["test/cli/sums/sum-ledger.test.ts", "test/cli/commands/usage.test.ts"],
    spares: ["test/core/price/money.test.ts"],
    why: "a program of the build's that the program starts",
  },
  {
    change: "src/local/dashboard/page/app.css",
    runs: ["test/local/dashboard/page/views.test.ts"],
    spares: ["test/core/price/money.test.ts"],
    why: "a part of the page that the daemon sends",
  },
  {
    change: "test/helpers/process/lease-holder.ts",
    runs: ["test/adapters/control-socket/lease.test.ts"],
    spares: ["test/core/price/money.test.ts", "test/cli/commands/usage.test.ts"],
    why: "a program that a test starts by its path",
  },
  {
    change: "docs/budgets.md",
    runs: ["test/docs.test.ts", "test/plain-english.test.ts"],
    spares: ["test/core/budget/windows.test.ts", "test/cli/commands/budget.test.ts"],
    why: "a page that a test reads with all of its folder",
  },
  {
    change: ".github/workflows/ci.yml",
    runs: ["test/release/workflows.test.ts"],
    spares: ["test/core/budget/windows.test.ts"],
    why: "files that a test reads",
  },
  {
    change: "src/core/budget/gauge.ts",
    runs: ["test/architecture.test.ts", "test/mutants/all.test.ts"],
    spares: ["test/core/price/money.test.ts"],
    why: "a source that a test reads as text",
  },
]) {
  test(`a change runs the tests that depend on it, and spares others: ${why}`, () => {
    const { tests } = affectedBy(change);
    assert.deepEqual(
      runs.filter((file) => !tests.includes(file)),
      [],
    );
    assert.deepEqual(
      spares.filter((file) => tests.includes(file)),
      [],
    );
  });
}

test("a changed test runs itself", () => {
  assert.ok(affectedBy("test/core/price/money.test.ts").tests.includes("test/core/price/money.test.ts"));
});

test("everything runs when the libraries or what runs the tests have changed", () => {
  for (const file of ["package-lock.json", "test/run/environment.ts", "test/helpers/tools/real-tool.ts"]) {
    const { tests, why } = affectedBy("docs/budgets.md", file);
    assert.equal(tests.length, TESTS.length);
    assert.equal(why, `all ${TESTS.length} test files: ${file} has changed since main\n`);
  }
});

test("it is said how many tests run and why, and what no test depends on", () => {
  const { tests, why } = affectedBy("src/core/budget/gauge.ts", UNREAD);
  assert.match(
    why,
    /^\d+ of \d+ test files: 2 files changed since main\n {2}\d+ because of what they import\n {2}\d+ because they start the built program\n {2}\d+ because they name a file or its directory\nno test depends on \.ci\/as-user\n$/,
  );
  assert.equal(Number(/^\d+/.exec(why)?.[0]), tests.length);
});

/** A repository with a release and, on main, a change after it. */
function makeRepository(t: TestContext) {
  const root = scratchDirectory(t);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args], {
      cwd: root,
      stdio: "pipe",
    });
  const write = (file: string, text: string) => {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  const commit = (message: string) => {
    git("add", "--all");
    git("commit", "--quiet", `--message=${message}`);
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const name of ["kept", "edited", "deleted", "renamed"]) write(`src/${name}.ts`, `${name}\n`.repeat(9));
  commit("release");
  git("tag", "v1.0.0");
  write("docs/main.md", "1");
  commit("on main");
  return { root, git, write, commit };
}

test("a change is what differs since the branch left main: in commits, edited, added, deleted and renamed", (t) => {
  const { root, git, write, commit } = makeRepository(t);
  git("switch", "--quiet", "--create", "mine");
  write("src/committed.ts", "1");
  commit("mine");
  git("switch", "--quiet", "main");
  write("docs/later.md", "1");
  commit("later on main");
  git("switch", "--quiet", "mine");
  write("src/edited.ts", "2");
  write("src/added.ts", "2");
  rmSync(join(root, "src/deleted.ts"));
  renameSync(join(root, "src/renamed.ts"), join(root, "src/new-name.ts"));
  const { since, files } = changesSince("main", root) ?? assert.fail("main is known");
  assert.match(since, /^main \([0-9a-f]{8}\)$/);
  assert.deepEqual(files.sort(), [
    "src/added.ts",
    "src/committed.ts",
    "src/deleted.ts",
    "src/edited.ts",
    "src/new-name.ts",
    "src/renamed.ts",
  ]);
  assert.equal(changesSince("nobody", root), null);
  assert.deepEqual(changesSinceTag(root)?.files.includes("docs/main.md"), true);
});

test("a shallow clone without tags is known as one", (t) => {
  const { root, git } = makeRepository(t);
  const clone = join(scratchDirectory(t), "clone");
  git("clone", "--quiet", "--depth=1", "--no-tags", `file://${root}`, clone);
  assert.equal(isShallow(root), false);
  assert.equal(isShallow(clone), true);
  assert.equal(changesSinceTag(clone), null);
});
