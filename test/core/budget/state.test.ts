import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeState, NO_STATE, parseState, type BudgetState } from "../../../src/core/budget/state.ts";

const DAY = 86_400_000;

const STATE: BudgetState = {
  lifts: [
    { tool: "codex", from: 1_000, until: 2_000 },
    { tool: null, from: 1_000, until: 3_000 },
  ],
  resets: [{ budget: "all: usd per day", at: 1_000, ahead: 1_000.5, until: 2_000 }],
  warned: [{ budget: "all: usd per day", share: 0.8, from: 0, until: 2_000 }],
};

test("the state of budgets is written and read back", () => {
  assert.deepEqual(parseState(encodeState(STATE, 1_500)), STATE);
  assert.deepEqual(parseState(encodeState(NO_STATE, 0)), NO_STATE);
});

test("what is over is left out; lifts and resets a month later, in case that the clock is set back", () => {
  assert.deepEqual(parseState(encodeState(STATE, 2_000)), { ...STATE, warned: [] });
  assert.deepEqual(parseState(encodeState(STATE, 2_000 + 32 * DAY)), {
    lifts: [STATE.lifts[1]],
    resets: [],
    warned: [],
  });
});

const broken = (change: object) => parseState(JSON.stringify({ v: 1, ...STATE, ...change }));

test("a state that is damaged or of a later release is not read", () => {
  assert.equal(broken({ v: 2 }), "unknown_version");
  for (const change of [
    { v: "1" },
    { lifts: {} },
    { lifts: undefined },
    { lifts: [null] },
    { lifts: [{ tool: 1, from: 0, until: 1 }] },
    { lifts: [{ tool: "codex", from: -1, until: 1 }] },
    { resets: [{ budget: "x", at: 0, until: 1 }] },
    { warned: [{ budget: "x", share: "0.8", from: 0, until: 1 }] },
    { warned: [{ budget: "x", share: 0.8, from: 0, until: null }] },
    { lifts: Array.from({ length: 10_001 }, () => STATE.lifts[0]) },
  ])
    assert.equal(broken(change), "unreadable", JSON.stringify(change).slice(0, 80));
  for (const text of ["", "[]", "null", '{"v":1}']) assert.equal(parseState(text), "unreadable");
});
