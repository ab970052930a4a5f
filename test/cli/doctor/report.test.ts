import assert from "node:assert/strict";
import { test } from "node:test";
import { isHealthy, renderFindings, renderProblems } from "../../../src/cli/commands/doctor.ts";
import type { CheckedFinding } from "../../../src/check/check.ts";

const finding = (given: Partial<CheckedFinding>): CheckedFinding => {
  return { id: "port", title: "port", verdict: "ok", message: "free", fix: null, ...given };
};

const MANY = [
  finding({}),
  finding({ id: "keys", title: "some keys", verdict: "failure", message: "no a", fix: "set" }),
  finding({ id: "keys", title: "some keys", verdict: "failure", message: "no b", fix: "set" }),
  finding({ id: "keys", title: "some keys", verdict: "warning", message: "an old c", fix: "renew" }),
  finding({ id: "service", title: "service", verdict: "skipped", message: "none" }),
];

test("the report has a line for each finding, each check's title once, and a fix that findings share once", () => {
  assert.equal(
    renderFindings(MANY, false),
    `ok       port       free
failure  some keys  no a
failure             no b
         -> set
warning             an old c
         -> renew
skipped  service    none

2 failures, 1 warning`,
  );
});

test("a terminal has the totals first, then each problem, and the names of all else", () => {
  assert.equal(
    renderProblems([...MANY, finding({ id: "clock", title: "clock" })], false),
    `2 failures, 1 warning

failure  some keys  no a
failure             no b
         -> set
warning             an old c
         -> renew

skipped  1: service
ok       2: port, clock (--all says more)`,
  );
  assert.equal(
    renderProblems([finding({})], false),
    "no problems found\n\nok       1: port (--all says more)",
  );
  for (let columns = 60; columns <= 240; columns += 20)
    for (const line of renderProblems(MANY, false, columns).split("\n"))
      assert.ok(line.length <= columns, line);
});

test("in a coloured report only the verdict has a colour", () => {
  assert.equal(
    renderFindings([finding({})], true),
    "\u001b[32mok     \u001b[0m  port  free\n\nno problems found",
  );
});

test("the report escapes control characters in messages and fixes", () => {
  const text = renderFindings([finding({ message: "a\u001b[2Jb", fix: "c\nd" })], false);
  assert.match(text, /a\\u001b\[2Jb\n {9}-> c\\u000ad\n/);
});

test("findings with a failure are not healthy, findings with warnings and skipped checks are", () => {
  assert.deepEqual(
    [isHealthy(MANY), isHealthy(MANY.filter(({ verdict }) => verdict !== "failure"))],
    [false, true],
  );
});

test("where there is no room, words go on below and a command stays whole", () => {
  const found = finding({
    verdict: "failure",
    message: "it cannot be read, because the keychain is locked",
    fix: "unlock the keychain, and then see whether it can be read: tollkeeper key test --upstream house",
  });
  for (let columns = 60; columns <= 240; columns += 1) {
    const lines = renderFindings([found], false, columns).split("\n");
    assert.ok(
      lines.some(
        (line) => /tollkeeper|main\.js|\.mjs/.test(line) && line.endsWith("key test --upstream house"),
      ),
    );
    for (const line of lines.filter((one) => !one.endsWith("house"))) assert.ok(line.length <= columns, line);
  }
});

test("a narrow terminal has each check's title before its message", () => {
  assert.equal(
    renderFindings(MANY, false, 60),
    `ok       port: free
failure  some keys: no a
failure  no b
         -> set
warning  an old c
         -> renew
skipped  service: none

2 failures, 1 warning`,
  );
});
