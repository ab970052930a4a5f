import assert from "node:assert/strict";
import { test } from "node:test";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import {
  addReadings,
  describeLimits,
  encodeLimits,
  parseLimits,
} from "../../../src/core/limits/account-limits.ts";
import type { WindowReading } from "../../../src/core/limits/read-limits.ts";
import { describeLimit } from "../../../src/core/limits/describe-limits.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-29T15:00:00Z");
const RESET = Date.parse("2026-11-29T16:40:00Z");
const UTC = zonedCalendar("UTC");

const reading = (
  window: string,
  usedPercent: number | null,
  resetsAt: number | null = RESET,
): WindowReading => ({
  window,
  usedPercent,
  limit: null,
  remaining: null,
  resetsAt,
});

/** What is said at a moment about what was seen at `NOW`. */
const say = (readings: WindowReading[], now: number) =>
  describeLimits(new Map([["default", addReadings(undefined, readings, NOW)]]), now).flatMap(({ windows }) =>
    windows.map((window) => describeLimit(window, now, UTC)),
  );

test("says share, window, age and reset; after the reset, that nothing was seen since", () => {
  const windows = [reading("5h", 62)];
  assert.deepEqual(say(windows, NOW + 3 * MINUTE), [
    "62% of the 5-hour window, from the answer 3 min ago, resets at 16:40",
  ]);
  assert.deepEqual(say(windows, RESET - 1).length, 1);
  assert.deepEqual(say(windows, RESET), ["the 5-hour window: reset at 16:40, not seen since"]);
});

test("says counts, extra limits, and how long a service asked to wait", () => {
  const counted = { ...reading("input-tokens", 3, null), limit: 1_000_000, remaining: 970_000 };
  assert.deepEqual(say([counted, reading("7d codex-a", 0.25, null), reading("retry", null)], NOW), [
    "the service asked to wait until 16:40, from the answer just now",
    "3% of the limit of input tokens (970,000 of 1,000,000 left), from the answer just now",
    "0.3% of the 7-day window (codex-a), from the answer just now",
  ]);
  assert.deepEqual(say([reading("retry", null)], RESET), [
    "the service asked to wait until 16:40, which is over, from the answer 1 h ago",
  ]);
});

test("a lower value is believed, and what a response does not name stays with its own age", () => {
  const first = addReadings(undefined, [reading("5h", 80), reading("7d", 30)], NOW);
  const second = addReadings(first, [reading("5h", 2)], NOW + MINUTE);
  assert.deepEqual(
    [...second.values()].map(({ window, usedPercent, seenAt }) => [window, usedPercent, seenAt - NOW]),
    [
      ["5h", 2, MINUTE],
      ["7d", 30, 0],
    ],
  );
});

test("a service cannot fill the memory with windows", () => {
  const many = Array.from({ length: 500 }, (_, at) => reading(`${at + 1}min`, 1));
  assert.equal(addReadings(undefined, many, NOW).size, 32);
});

test("what is used most comes first, reset windows come last, and old ones are gone", () => {
  const windows = [reading("7d", 90, NOW + 1), reading("5h", 10), reading("30d", 20, null)];
  assert.deepEqual(
    say(windows, NOW + MINUTE).map((text) => text.replace(/,.*/, "")),
    ["20% of the 30-day window", "10% of the 5-hour window", "the 7-day window: reset at 15:00"],
  );
  assert.deepEqual(say(windows, NOW + 32 * 24 * 60 * MINUTE), []);
});

test("a file of limits is read as it was written, and a damaged one not at all", () => {
  const seen = new Map([["default", addReadings(undefined, [reading("5h", 62)], NOW)]]);
  const text = encodeLimits(seen, new Map());
  assert.deepEqual(parseLimits(text), seen);
  for (const [from, to] of [
    ['"v":1', '"v":2'],
    ['"5h"', '"a sentence of a prompt"'],
    ["62", '"62"'],
    [String(NOW), "null"],
    [String(NOW), "-1"],
    ["[", "{"],
  ] as const)
    assert.equal(parseLimits(text.replace(from, to)), null, to);
});
