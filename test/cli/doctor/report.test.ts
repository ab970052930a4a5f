import assert from "node:assert/strict";
import { test } from "node:test";
import { isWell, renderFindings } from "../../../src/cli/doctor/report.ts";
import type { CheckedFinding } from "../../../src/cli/doctor/run.ts";

const one = (given: Partial<CheckedFinding>): CheckedFinding => {
  return { id: "port", title: "port", verdict: "ok", message: "free", fix: null, ...given };
};

const MANY = [
  one({}),
  one({ id: "keys", title: "some keys", verdict: "failure", message: "no a", fix: "set" }),
  one({ id: "keys", title: "some keys", verdict: "failure", message: "no b", fix: "set" }),
  one({ id: "keys", title: "some keys", verdict: "warning", message: "an old c", fix: "renew" }),
  one({ id: "service", title: "service", verdict: "skipped", message: "none" }),
];

test("a line for each finding, the title once for a check, the fix once where it is the same", () => {
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

test("on a terminal only the verdict has a colour", () => {
  assert.equal(renderFindings([one({})], true), "\u001b[32mok     \u001b[0m  port  free\n\nall is well");
});

test("what acts on a terminal is written out, in messages and in fixes", () => {
  const text = renderFindings([one({ message: "a\u001b[2Jb", fix: "c\nd" })], false);
  assert.match(text, /a\\u001b\[2Jb\n {9}-> c\\u000ad\n/);
});

test("a failure is not well; a warning and what was skipped are", () => {
  assert.deepEqual(
    [isWell(MANY), isWell(MANY.filter(({ verdict }) => verdict !== "failure"))],
    [false, true],
  );
});
