import assert from "node:assert/strict";
import { test } from "node:test";
import { idleLimitMs } from "../../../src/core/http/keep-alive.ts";

for (const [keepAlive, limitMs, what] of [
  [undefined, 50_000, "nothing is announced: well below the 60 s of load balancers"],
  ["", 50_000, "what is announced is empty"],
  ["timeout", 50_000, "no number is announced"],
  ["max=100", 50_000, "only a number of requests is announced"],
  ["timeout=5", 3_000, "two seconds are left of what is announced"],
  ["timeout=5, max=100", 3_000, "there are two parameters"],
  ["max=100, Timeout=5", 3_000, "they come the other way round, in another case"],
  ["timeout=75", 73_000, "more than usual is announced"],
  ["timeout=999999999999", 300_000, "much too much is announced"],
  ["timeout=2", 0, "nothing is left of what is announced"],
  ["timeout=0", 0, "no time at all is announced"],
  ["timeout=60, max=0", 0, "that was the last request"],
] as const) {
  test(`a connection may be idle for ${limitMs} ms when ${what}`, () => {
    assert.equal(idleLimitMs(keepAlive), limitMs);
  });
}
