import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function run(...args: string[]) {
  const line = ["--import", "tsx", "test/mutants/run.ts", ...args];
  return spawnSync(process.execPath, line, { cwd: ROOT, encoding: "utf8", timeout: 300_000 });
}

test("when the time is over before anything is judged, that is no failure, and it is said what was not judged", () => {
  const { status, stdout, stderr } = run("B4", "--minutes", "0.001");
  assert.equal(status, 0, stderr);
  assert.match(
    stdout,
    /^NOT JUDGED, by row: B4 (\d+)\n0 of \1 rules judged in \d+ s, 0 of them unnoticed; \1 not judged$/m,
  );
});

test("a limit that is no number of minutes, and a row without rules, are refused", () => {
  const refused = [run("B4", "--minutes", "soon"), run("Z9")];
  assert.deepEqual(
    refused.map(({ status, stderr }) => [status, stderr]),
    [
      [1, "error: --minutes soon is not a number of minutes\n"],
      [1, "error: no rule has a row Z9\n"],
    ],
  );
});
