import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePsTime, parseSchedstat, parseStat } from "./cpu.ts";

test("schedstat is parsed into the time on a CPU and the time waiting for one, in nanoseconds", () => {
  assert.deepEqual(parseSchedstat("1239542017 84210 317\n"), { ranNs: 1_239_542_017, waitedNs: 84_210 });
});

test("stat is parsed into user and system time, after a name with spaces and brackets", () => {
  const stat = "42 (a) b (c)) S 1 42 42 0 -1 4194304 1000 0 0 0 150 25 0 0 20 0 11 0 5000 1 2 3";
  assert.equal(parseStat(stat), 1_750_000_000);
});

test("times of ps are parsed with and without hours and days", () => {
  assert.equal(parsePsTime("   0:01.25\n"), 1.25e9);
  assert.equal(parsePsTime("12:34.50"), 754.5e9);
  assert.equal(parsePsTime("1-02:03:04"), 93_784e9);
});
