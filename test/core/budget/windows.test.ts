import assert from "node:assert/strict";
import { test } from "node:test";
import type { BudgetTerms } from "../../../src/core/budget/kinds.ts";
import { windowsOf } from "../../../src/core/budget/windows.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";

const BERLIN = "Europe/Berlin";
const LORD_HOWE = "Australia/Lord_Howe";
const KATHMANDU = "Asia/Kathmandu";

type Window = BudgetTerms["window"];

const windowAt = (window: Window, zone: string, time: string) => {
  const { start, until } = windowsOf({ window }, zonedCalendar(zone)).at(Date.parse(time));
  return [new Date(start).toISOString(), new Date(until).toISOString()];
};

const CASES: [what: string, window: Window, zone: string, time: string, start: string, until: string][] = [
  ["an hour", { per: "hour" }, BERLIN, "2026-11-21T11:59:59.999Z", "2026-11-21T11:00Z", "2026-11-21T12:00Z"],
  [
    "an hour where clocks are ahead by quarters",
    { per: "hour" },
    KATHMANDU,
    "2026-11-21T11:10Z",
    "2026-11-21T10:15Z",
    "2026-11-21T11:15Z",
  ],
  ["a day", { per: "day" }, BERLIN, "2026-11-21T22:59:59.999Z", "2026-11-20T23:00Z", "2026-11-21T23:00Z"],
  [
    "the next day, from its first moment",
    { per: "day" },
    BERLIN,
    "2026-11-21T23:00Z",
    "2026-11-21T23:00Z",
    "2026-11-22T23:00Z",
  ],
  [
    "a week, from Monday",
    { per: "week" },
    BERLIN,
    "2026-11-22T22:59Z",
    "2026-11-15T23:00Z",
    "2026-11-22T23:00Z",
  ],
  ["a month", { per: "month" }, BERLIN, "2026-11-30T22:59Z", "2026-10-31T23:00Z", "2026-11-30T23:00Z"],
  ["a month's turn", { per: "month" }, BERLIN, "2026-11-30T23:00Z", "2026-11-30T23:00Z", "2026-12-31T23:00Z"],
  [
    "February of a leap year",
    { per: "month" },
    BERLIN,
    "2028-02-29T12:00Z",
    "2028-01-31T23:00Z",
    "2028-02-29T23:00Z",
  ],
  [
    "the month in which clocks go back",
    { per: "month" },
    BERLIN,
    "2026-10-31T12:00Z",
    "2026-09-30T22:00Z",
    "2026-10-31T23:00Z",
  ],
  // Berlin, 2026-10-25: at 03:00 clocks go back to 02:00.
  [
    "a day of 25 hours",
    { per: "day" },
    BERLIN,
    "2026-10-25T12:00Z",
    "2026-10-24T22:00Z",
    "2026-10-25T23:00Z",
  ],
  [
    "the hour that comes twice, the first time",
    { per: "hour" },
    BERLIN,
    "2026-10-25T00:10Z",
    "2026-10-25T00:00Z",
    "2026-10-25T02:00Z",
  ],
  [
    "the hour that comes twice, the second time",
    { per: "hour" },
    BERLIN,
    "2026-10-25T01:50Z",
    "2026-10-25T00:00Z",
    "2026-10-25T02:00Z",
  ],
  [
    "the week in which clocks go back",
    { per: "week" },
    BERLIN,
    "2026-10-25T22:00Z",
    "2026-10-18T22:00Z",
    "2026-10-25T23:00Z",
  ],
  // Berlin, 2026-03-29: at 02:00 clocks go forward to 03:00.
  [
    "a day of 23 hours",
    { per: "day" },
    BERLIN,
    "2026-03-29T12:00Z",
    "2026-03-28T23:00Z",
    "2026-03-29T22:00Z",
  ],
  [
    "the hour before the missing one",
    { per: "hour" },
    BERLIN,
    "2026-03-29T00:59Z",
    "2026-03-29T00:00Z",
    "2026-03-29T01:00Z",
  ],
  [
    "the hour after the missing one",
    { per: "hour" },
    BERLIN,
    "2026-03-29T01:00Z",
    "2026-03-29T01:00Z",
    "2026-03-29T02:00Z",
  ],
  // Lord Howe, 2026-04-05: at 02:00 clocks go back to 01:30. 2026-10-04: at 02:00 forward to 02:30.
  [
    "an hour of which half comes twice",
    { per: "hour" },
    LORD_HOWE,
    "2026-04-04T15:15Z",
    "2026-04-04T14:00Z",
    "2026-04-04T15:30Z",
  ],
  [
    "the hour after it",
    { per: "hour" },
    LORD_HOWE,
    "2026-04-04T15:30Z",
    "2026-04-04T15:30Z",
    "2026-04-04T16:30Z",
  ],
  [
    "a day of 24.5 hours",
    { per: "day" },
    LORD_HOWE,
    "2026-04-05T00:00Z",
    "2026-04-04T13:00Z",
    "2026-04-05T13:30Z",
  ],
  [
    "an hour of which half is missing",
    { per: "hour" },
    LORD_HOWE,
    "2026-10-03T15:40Z",
    "2026-10-03T15:30Z",
    "2026-10-03T16:00Z",
  ],
  [
    "a day of 23.5 hours",
    { per: "day" },
    LORD_HOWE,
    "2026-10-04T00:00Z",
    "2026-10-03T13:30Z",
    "2026-10-04T13:00Z",
  ],
];

for (const [what, window, zone, time, start, until] of CASES)
  test(`${what} in ${zone} at ${time}`, () => {
    const expected = [start, until].map((text) => new Date(text).toISOString());
    assert.deepEqual(windowAt(window, zone, time), expected);
  });

const rollingAt = (rolling: number, time: string) => {
  const { start, from, until } = windowsOf({ window: { rolling } }, zonedCalendar("UTC")).at(
    Date.parse(time),
  );
  return [start, from, until].map((one) => new Date(one).toISOString().slice(11, 19));
};

test("a rolling window moves in steps of 5 minutes, or of an hour when it is longer than a day", () => {
  assert.deepEqual(rollingAt(5, "2026-11-21T12:04:59.999Z"), ["07:00:00", "12:00:00", "12:05:00"]);
  assert.deepEqual(rollingAt(5, "2026-11-21T12:05:00Z"), ["07:05:00", "12:05:00", "12:10:00"]);
  assert.deepEqual(rollingAt(24, "2026-11-21T12:04:59Z"), ["12:00:00", "12:00:00", "12:05:00"]);
  assert.deepEqual(rollingAt(25, "2026-11-21T12:59:59Z"), ["11:00:00", "12:00:00", "13:00:00"]);
});

test("what was spent in a cell of a rolling window counts until the window's length after the cell's end", () => {
  const windows = windowsOf({ window: { rolling: 1 } }, zonedCalendar("UTC"));
  const cell = windows.cellOf(Date.parse("2026-11-21T12:03:00Z"));
  const end = windows.endOf(cell);
  assert.equal(new Date(end).toISOString(), "2026-11-21T13:05:00.000Z");
  assert.ok(windows.at(end - 1).start <= cell);
  assert.ok(windows.at(end).start > cell);
});
