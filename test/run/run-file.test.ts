import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { noTerminal, runOnTerminal } from "../helpers/process/terminal.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { bundleTests } from "./bundle.ts";
import { testEnvironment } from "./environment.ts";
import { RunReport } from "./reporter.ts";
import { runFile } from "./run-file.ts";

const bundled = bundleTests([]);
after(async () => (await bundled).remove());

/** Runs this text as a test file. `silenceLimitMs` is for one that hangs: longer than Node takes to start on a busy machine. */
async function resultOf(t: TestContext, text: string, silenceLimitMs?: number) {
  const scratch = scratchDirectory(t);
  const program = join(scratch, "some.test.mjs");
  writeFileSync(program, `import { test } from "node:test"; import assert from "node:assert";\n${text}`);
  const { reporter } = await bundled;
  return runFile({ name: "cli/some.test.ts", program, reporter }, testEnvironment(scratch), silenceLimitMs)
    .ended;
}

test("a test that hangs is named with the test around it, and its output is kept", async (t) => {
  const { passed, failures, output } = await resultOf(
    t,
    `test("quick", () => {});
     test("outer", async (t) => {
       await t.test("waits for a third question", () => {
         console.log("Connect opencode? [y/N]");
         return new Promise(() => setInterval(() => {}, 1000));
       });
     });`,
    15_000,
  );
  assert.deepEqual([passed, failures.length], [1, 1]);
  assert.equal(failures[0]?.name, "outer > waits for a third question");
  assert.match(failures[0]?.reason ?? "", /^hangs: no test began or ended for 15 s$/);
  assert.equal(output, "Connect opencode? [y/N]\n");
  const report = new RunReport(["cli/some.test.ts"]);
  const text = report.onEnd("cli/some.test.ts", { passed, failures, output, skipped: [], seconds: 15 });
  assert.match(text, /FAILED: test\/cli\/some\.test\.ts\n {2}outer > waits for a third question\n/);
  assert.match(text, /\n {4}Connect opencode\? \[y\/N\]\n/);
  assert.equal(report.hasPassed(), false);
});

test("passed, failed and skipped tests are counted once each, and a suite is none", async (t) => {
  const { passed, failures, skipped } = await resultOf(
    t,
    `import { describe } from "node:test";
     describe("suite", () => { test("a", () => {}); test("b", () => {}); });
     test("left out", { skip: "needs root" }, () => {});
     test("parent", async (t) => { await t.test("child", () => assert.equal(1, 2)); });`,
  );
  assert.deepEqual([passed, skipped], [2, ["needs root"]]);
  assert.deepEqual(
    failures.map(({ name }) => name),
    ["child"],
  );
  assert.match(failures[0]?.reason ?? "", /AssertionError/);
});

for (const { what, text, name, reason } of [
  {
    what: "without a test",
    text: "",
    name: "the file",
    reason: /^has no test$/,
  },
  {
    what: "that cannot be loaded",
    text: 'import "./missing.mjs";',
    name: "outside of a test",
    reason: /^the file ended with exit code \d+$/,
  },
  {
    what: "whose process is killed",
    text: 'test("ends itself", () => new Promise(() => setTimeout(() => process.kill(process.pid, "SIGKILL"), 200)));',
    name: "ends itself",
    reason: /^the file ended with SIGKILL$/,
  },
]) {
  test(`a file ${what} fails`, async (t) => {
    const { failures } = await resultOf(t, text);
    assert.equal(failures.length, 1);
    assert.equal(failures[0]?.name, name);
    assert.match(failures[0]?.reason ?? "", reason);
  });
}

test("the progress names what runs, and how many files of how many have ended", () => {
  const report = new RunReport(["cli/a.test.ts", "cli/b.test.ts"]);
  report.onEnd("cli/a.test.ts", { passed: 3, failures: [], skipped: [], output: "", seconds: 1 });
  const startedAt = performance.now() - 40_000;
  const running = { name: "cli/b.test.ts", startedAt, ended: new Promise<never>(() => {}), kill() {} };
  assert.equal(
    report.progress([running]),
    "0 s: 1 of 2 files, 3 tests passed, 0 failed; running cli/b (40 s)\n",
  );
  assert.match(report.end(), /\n3 passed, 0 failed, 0 skipped, in 0 s\n$/);
});

test(
  "a dialogue that asks more than it is answered fails with its screen",
  { skip: noTerminal },
  async () => {
    const questions = 'printf "First? "; read a; printf "Second? "; read b';
    const dialogue = (typing: [string, string][]) =>
      runOnTerminal(["sh", "-c", questions], { env: process.env }, typing, 5_000);
    await assert.rejects(
      dialogue([["First? ", "y\n"]]),
      /^Error: sh .* has neither ended nor shown anything for 5 s; its terminal:\nFirst\? y\s+Second\? $/,
    );
    await assert.rejects(
      dialogue([
        ["First? ", "y\n"],
        ["Third? ", "y\n"],
      ]),
      /has neither asked "Third\? " nor shown anything/,
    );
  },
);
