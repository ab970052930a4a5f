import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC_CALENDAR, zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { countIdleHours } from "../../../src/core/ledger/grouping.ts";

const day = (since: string, until: string) => ({ since: Date.parse(since), until: Date.parse(until) });

const TODAY = day("2026-11-29T00:00Z", "2026-11-29T15:20Z");

test("hours without a row are counted before each row, and after the last one", () => {
  const hours = ["2026-11-29 13:00", "2026-11-29 12:00", "2026-11-29 12:00", "2026-11-29 09:00"];
  assert.deepEqual(countIdleHours(hours, TODAY, UTC_CALENDAR), [2, 0, 0, 2, 9]);
  assert.deepEqual(countIdleHours(["2026-11-29 15:00"], TODAY, UTC_CALENDAR), [0, 15]);
  assert.deepEqual(countIdleHours([], TODAY, UTC_CALENDAR), [16]);
});

test("a time that begins within an hour has that hour", () => {
  const last = day("2026-11-28T15:20Z", "2026-11-29T15:20Z");
  assert.deepEqual(countIdleHours(["2026-11-28 15:00"], last, UTC_CALENDAR), [24, 0]);
});

test("an hour outside of the time leaves no gap", () => {
  assert.deepEqual(countIdleHours(["2026-11-30 02:00", "2026-11-29 15:00"], TODAY, UTC_CALENDAR), [0, 0, 15]);
});

test("a day has an hour less when clocks go forward, and the repeated hour is one", () => {
  const berlin = zonedCalendar("Europe/Berlin");
  const spring = day("2026-03-28T23:00Z", "2026-03-29T22:00Z");
  assert.deepEqual(countIdleHours(["2026-03-29 03:00", "2026-03-29 01:00"], spring, berlin), [20, 0, 1]);
  const autumn = day("2026-10-24T22:00Z", "2026-10-25T23:00Z");
  assert.deepEqual(countIdleHours(["2026-10-25 03:00", "2026-10-25 01:00"], autumn, berlin), [20, 1, 1]);
});
