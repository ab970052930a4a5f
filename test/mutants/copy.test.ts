import assert from "node:assert/strict";
import { test } from "node:test";
import { MUTANTS } from "./all.ts";
import { ProjectCopy } from "./copy.ts";

test("after a mutant of the built program, tests with every rule in place run a program with every rule", async (t) => {
  const copy = new ProjectCopy(AbortSignal.timeout(300_000));
  t.after(() => copy.remove());
  const mutant = MUTANTS.find(({ row, file }) => row === "F2" && file === "src/local/dashboard/feeds.ts");
  assert.ok(mutant !== undefined);
  await copy.checkTypes();
  const usual = await copy.runTest(mutant.test, true);
  assert.equal(usual.failure, null);
  assert.deepEqual(await copy.try(mutant, true, usual.ms), {
    kind: "noticed",
    detail: "neither the page nor a feed may be framed",
  });
  assert.equal((await copy.runTest(mutant.test, true)).failure, null);
});
