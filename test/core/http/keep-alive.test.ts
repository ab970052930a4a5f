import assert from "node:assert/strict";
import { test } from "node:test";
import { parseIdleLimitMs } from "../../../src/core/http/keep-alive.ts";

for (const [keepAlive, limitMs, what] of [
  [undefined, 50_000, "nothing is announced (well below the 60 s of load balancers)"],
  ["", 50_000, "the Keep-Alive header is empty"],
  ["timeout", 50_000, "no number is announced"],
  ["max=100", 50_000, "only a number of requests is announced"],
  ["timeout=5", 3_000, "5 s are announced"],
  ["timeout=5, max=100", 3_000, "5 s and a number of requests are announced"],
  ["max=100, Timeout=5", 3_000, "they are announced in the other order and case"],
  ["timeout=75", 73_000, "75 s are announced"],
  ["timeout=999999999999", 300_000, "a huge number is announced"],
  ["timeout=2", 0, "no more than the safety margin is announced"],
  ["timeout=0", 0, "0 s are announced"],
  ["timeout=60, max=0", 0, "no further request is allowed"],
] as const) {
  test(`lets a connection be idle for ${limitMs} ms when ${what}`, () => {
    assert.equal(parseIdleLimitMs(keepAlive), limitMs);
  });
}
