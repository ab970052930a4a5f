import assert from "node:assert/strict";
import { test } from "node:test";
import { StepAllowance } from "../../../src/adapters/peer/step-allowance.ts";
import { holdTime } from "../../helpers/async/hold-time.ts";

const LIMITS = { perMs: 20, burst: 1_000 };

test("what an idle time has left may be used at once", (t) => {
  holdTime(t);
  const allowance = new StepAllowance(LIMITS);
  allowance.take(1_000);
  assert.equal(allowance.waitMs, 0);
  allowance.take(200);
  assert.equal(allowance.waitMs, 10);
});

test("the wait is over when as much has come in as was used too much", (t) => {
  const pass = holdTime(t);
  const allowance = new StepAllowance(LIMITS);
  allowance.take(1_200);
  pass(9);
  assert.ok(allowance.waitMs > 0);
  pass(1);
  assert.equal(allowance.waitMs, 0);
});

test("no more is saved up than one burst", (t) => {
  const pass = holdTime(t);
  const allowance = new StepAllowance(LIMITS);
  pass(60_000);
  allowance.take(1_200);
  assert.equal(allowance.waitMs, 10);
});

test("no wait is longer than five seconds", (t) => {
  const pass = holdTime(t);
  const allowance = new StepAllowance(LIMITS);
  allowance.take(10_000_000);
  assert.equal(allowance.waitMs, 5_000);
  pass(5_000);
  assert.equal(allowance.waitMs, 0);
});
