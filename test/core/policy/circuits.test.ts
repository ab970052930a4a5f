import assert from "node:assert/strict";
import { test } from "node:test";
import { Circuits } from "../../../src/core/policy/circuits.ts";

/** An upstream whose circuit has opened at the time 0. */
function opened(): Circuits {
  const circuits = new Circuits();
  for (let failure = 0; failure < 3; failure += 1) circuits.failed("a", 0);
  return circuits;
}

test("three failures in a row open a circuit for 30 s", () => {
  const circuits = new Circuits();
  circuits.failed("a", 0);
  circuits.failed("a", 0);
  circuits.succeeded("a");
  circuits.failed("a", 0);
  circuits.failed("a", 0);
  assert.deepEqual([circuits.admit("a", 0), circuits.cooldownOf("a", 0)], [true, null]);
  circuits.failed("a", 1_000);
  assert.deepEqual([circuits.admit("a", 30_999), circuits.cooldownOf("a", 11_000)], [false, 20_000]);
  assert.equal(circuits.admit("b", 1_000), true, "another upstream");
});

test("after the cooldown one request is the probe, and a response of any kind closes the circuit", () => {
  const circuits = opened();
  assert.equal(circuits.cooldownOf("a", 30_000), 0);
  assert.deepEqual([circuits.admit("a", 30_000), circuits.admit("a", 30_001)], [true, false]);
  circuits.succeeded("a");
  assert.deepEqual([circuits.admit("a", 30_002), circuits.cooldownOf("a", 30_002)], [true, null]);
});

test("each failed probe doubles the cooldown, up to 5 minutes", () => {
  const circuits = opened();
  let now = 0;
  const cooldowns = Array.from({ length: 5 }, () => {
    now += circuits.cooldownOf("a", now) ?? 0;
    assert.equal(circuits.admit("a", now), true);
    circuits.failed("a", now);
    return circuits.cooldownOf("a", now);
  });
  assert.deepEqual(cooldowns, [60_000, 120_000, 240_000, 300_000, 300_000]);
});

test("a probe without a result is followed by another after as long again", () => {
  const circuits = opened();
  assert.equal(circuits.admit("a", 30_000), true);
  assert.deepEqual([circuits.admit("a", 59_999), circuits.admit("a", 60_000)], [false, true]);
});

test("failures of requests that were sent before the circuit opened do not prolong the cooldown", () => {
  const circuits = opened();
  for (let failure = 0; failure < 10; failure += 1) circuits.failed("a", 20_000);
  assert.equal(circuits.cooldownOf("a", 20_000), 10_000);
});
