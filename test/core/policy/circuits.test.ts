import assert from "node:assert/strict";
import { test } from "node:test";
import { Circuits } from "../../../src/core/policy/circuits.ts";

/** An upstream that has begun to rest at the time 0. */
function resting(): Circuits {
  const circuits = new Circuits();
  for (let failure = 0; failure < 3; failure += 1) circuits.failed("a", 0);
  return circuits;
}

test("an upstream rests for 30 s after three failures in a row", () => {
  const circuits = new Circuits();
  circuits.failed("a", 0);
  circuits.failed("a", 0);
  circuits.worked("a");
  circuits.failed("a", 0);
  circuits.failed("a", 0);
  assert.deepEqual([circuits.admit("a", 0), circuits.restOf("a", 0)], [true, null]);
  circuits.failed("a", 1_000);
  assert.deepEqual([circuits.admit("a", 30_999), circuits.restOf("a", 11_000)], [false, 20_000]);
  assert.equal(circuits.admit("b", 1_000), true, "another upstream");
});

test("after a rest one request tries it again, and a response of any kind ends the rests", () => {
  const circuits = resting();
  assert.equal(circuits.restOf("a", 30_000), 0);
  assert.deepEqual([circuits.admit("a", 30_000), circuits.admit("a", 30_001)], [true, false]);
  circuits.worked("a");
  assert.deepEqual([circuits.admit("a", 30_002), circuits.restOf("a", 30_002)], [true, null]);
});

test("each failure of the request that tries it doubles the rest, up to 5 minutes", () => {
  const circuits = resting();
  let now = 0;
  const rests = Array.from({ length: 5 }, () => {
    now += circuits.restOf("a", now) ?? 0;
    assert.equal(circuits.admit("a", now), true);
    circuits.failed("a", now);
    return circuits.restOf("a", now);
  });
  assert.deepEqual(rests, [60_000, 120_000, 240_000, 300_000, 300_000]);
});

test("a request that tries it and says nothing is followed by another after as long again", () => {
  const circuits = resting();
  assert.equal(circuits.admit("a", 30_000), true);
  assert.deepEqual([circuits.admit("a", 59_999), circuits.admit("a", 60_000)], [false, true]);
});

test("failures of requests that were sent before the rest do not prolong it", () => {
  const circuits = resting();
  for (let failure = 0; failure < 10; failure += 1) circuits.failed("a", 20_000);
  assert.equal(circuits.restOf("a", 20_000), 10_000);
});
