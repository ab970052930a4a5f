import assert from "node:assert/strict";
import { test } from "node:test";
import { INSTALLATION_CHECKS } from "../../src/check/list.ts";
import { WRONG_ANSWERS } from "./wrong-answers.ts";
import { failuresOf } from "./wrong-path.ts";
import { WRONG_RECORDS } from "./wrong-records.ts";
import { WRONG_REFUSALS } from "./wrong-refusals.ts";
import { WRONG_REQUESTS } from "./wrong-requests.ts";

const CASES = [...WRONG_REQUESTS, ...WRONG_ANSWERS, ...WRONG_REFUSALS, ...WRONG_RECORDS];

test("a right tollkeeper passes every check, with hops on its way, too", async (t) => {
  assert.deepEqual(await failuresOf(t, {}, []), []);
});

for (const { title, fails, hangs, fault, ...wrong } of CASES) {
  test(`one that ${title} fails "${fails}", and nothing else`, async (t) => {
    const failures = await failuresOf(t, wrong, hangs === true ? [fails] : []);
    assert.deepEqual(
      failures.map(({ name }) => name),
      [fails],
      failures.map((failure) => failure.fault).join("\n"),
    );
    assert.match(failures[0]?.fault ?? "", fault);
    assert.match(failures[0]?.remedy ?? "", /tollkeeper (?:check --json|config check)$/);
  });
}

test("every check has something wrong that it notices", () => {
  const noticed = new Set(CASES.map(({ fails }) => fails));
  assert.deepEqual(
    INSTALLATION_CHECKS.map(({ name }) => name).filter((name) => !noticed.has(name)),
    [],
  );
});
