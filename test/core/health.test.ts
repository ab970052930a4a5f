import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeHealth } from "../../src/core/health.ts";

const SERVING = {
  state: "serving",
  config: { problems: [] },
  keys: [{ state: "present" }, { state: "not_asked" }],
  access: { mode: "open", tokens: { problem: null } },
  ledger: { waiting: 0 },
} as const;
const BROKEN = { problem: { message: "cannot be read" } };

test("a daemon with all that a request needs is healthy", () => {
  assert.equal(judgeHealth(SERVING), "ok");
  // No token is required then.
  assert.equal(judgeHealth({ ...SERVING, access: { mode: "open", tokens: BROKEN } }), "ok");
});

for (const [expected, facts] of [
  ["stopping", { state: "stopping" }],
  ["configuration", { config: { problems: [{}] } }],
  ["keys", { keys: [{ state: "present" }, { state: "locked" }] }],
  ["tokens", { access: { mode: "token", tokens: BROKEN } }],
  ["ledger", { ledger: { waiting: 1 } }],
] as const) {
  test(`what keeps it from serving is said: ${expected}`, () => {
    assert.equal(judgeHealth({ ...SERVING, ...facts }), expected);
  });
}
