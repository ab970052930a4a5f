import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import {
  localCalendar,
  UTC_CALENDAR,
  zonedCalendar,
  type Calendar,
} from "../../../src/core/ledger/calendar.ts";
import { parsePeriod } from "../../../src/core/ledger/period.ts";
import { setEnvironment } from "../../helpers/process/set-environment.ts";

/** A Saturday. */
const NOW = Date.UTC(2026, 10, 21, 12, 30);

/** The period from what `text` says until now. */
function since(text: string, now: number, calendar: Calendar) {
  return parsePeriod({ since: text, until: undefined }, now, calendar);
}

for (const [text, [start, title]] of Object.entries({
  today: ["2026-11-21T00:00:00.000Z", "2026-11-21"],
  "1d": ["2026-11-21T00:00:00.000Z", "2026-11-21"],
  "7d": ["2026-11-15T00:00:00.000Z", "2026-11-15 to 2026-11-21"],
  "24h": ["2026-11-20T12:30:00.000Z", "the last 24 hours"],
  "1h": ["2026-11-21T11:30:00.000Z", "the last hour"],
  "0h": ["2026-11-21T12:30:00.000Z", "the last 0 hours"],
  "2026-11-01": ["2026-11-01T00:00:00.000Z", "2026-11-01 to 2026-11-21"],
  "2w": ["2026-11-08T00:00:00.000Z", "2026-11-08 to 2026-11-21"],
  yesterday: ["2026-11-20T00:00:00.000Z", "2026-11-20 to 2026-11-21"],
  "this week": ["2026-11-16T00:00:00.000Z", "2026-11-16 to 2026-11-21"],
  "Last Week": ["2026-11-09T00:00:00.000Z", "2026-11-09 to 2026-11-21"],
  "this month": ["2026-11-01T00:00:00.000Z", "2026-11-01 to 2026-11-21"],
  "last month": ["2026-10-01T00:00:00.000Z", "2026-10-01 to 2026-11-21"],
  "this year": ["2026-01-01T00:00:00.000Z", "2026-01-01 to 2026-11-21"],
  "last year": ["2025-01-01T00:00:00.000Z", "2025-01-01 to 2026-11-21"],
  "2026-10": ["2026-10-01T00:00:00.000Z", "2026-10-01 to 2026-11-21"],
  "2025": ["2025-01-01T00:00:00.000Z", "2025-01-01 to 2026-11-21"],
  "2024-02-29": ["2024-02-29T00:00:00.000Z", "2024-02-29 to 2026-11-21"],
})) {
  test(`parses --since ${text} as the period that starts at ${start} in UTC`, () => {
    assert.deepEqual(since(text, NOW, UTC_CALENDAR), { since: Date.parse(start ?? ""), until: null, title });
  });
}

// The clocks in Berlin went back on 25 October 2026, and forward on 29 March.
for (const [text, now, start, title] of [
  ["today", "2026-11-21T23:30:00Z", "2026-11-21T23:00:00Z", "2026-11-22"],
  ["2d", "2026-10-25T12:00:00Z", "2026-10-23T22:00:00Z", "2026-10-24 to 2026-10-25"],
  ["2d", "2026-10-26T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25 to 2026-10-26"],
  ["2d", "2026-03-29T12:00:00Z", "2026-03-27T23:00:00Z", "2026-03-28 to 2026-03-29"],
  ["2d", "2026-03-30T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29 to 2026-03-30"],
  ["2026-10-25", "2026-10-25T23:30:00Z", "2026-10-24T22:00:00Z", "2026-10-25 to 2026-10-26"],
] as const) {
  test(`counts ${text} at ${now} in days of the local time zone, also when the clocks change`, (t) => {
    setEnvironment(t, { TZ: "Europe/Berlin" });
    const calendar = localCalendar();
    assert.equal(calendar.zone, "Europe/Berlin");
    assert.deepEqual(since(text, Date.parse(now), calendar), {
      since: Date.parse(start),
      until: null,
      title,
    });
  });
}

for (const [text, reason] of Object.entries({
  "": /neither a time span nor a date/,
  "the day before": /neither a time span nor a date/,
  constructor: /neither a time span nor a date/,
  "-7d": /neither a time span nor a date/,
  "7 d": /neither a time span nor a date/,
  "2026-11-1": /neither a time span nor a date/,
  "2026-02-30": /there is no such day/,
  "2026-13-01": /there is no such day/,
  "2026-13": /there is no such month/,
  "2026-02-30T09:00Z": /there is no such day/,
  "2026-11-01T24:30Z": /there is no such moment/,
  "2026-11-01T09:00": /neither a time span nor a date/,
  "6000w": /100 years/,
  "0d": /at least one day/,
  "40000d": /100 years/,
  "\u001b[2J": /^cannot read --since "\\u001b\[2J"/,
})) {
  test(`refuses --since ${JSON.stringify(text)}, and says what is wrong and what to write`, () => {
    assert.throws(
      () => since(text, NOW, UTC_CALENDAR),
      (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, reason);
        assert.match(
          error.hint ?? "",
          /today, yesterday, "last week", 24h, 7d, 2026-11, a date such as 2026-11-01 or a moment such as/,
        );
        return true;
      },
    );
  });
}

for (const [from, to, start, end, title] of [
  ["yesterday", "yesterday", "2026-11-20", "2026-11-21", "2026-11-20"],
  ["last week", "last week", "2026-11-09", "2026-11-16", "2026-11-09 to 2026-11-15"],
  ["last month", "last month", "2026-10-01", "2026-11-01", "2026-10-01 to 2026-10-31"],
  ["2024-02", "2024-02", "2024-02-01", "2024-03-01", "2024-02-01 to 2024-02-29"],
  ["2025", "2025", "2025-01-01", "2026-01-01", "2025-01-01 to 2025-12-31"],
  ["7d", "2026-11-19", "2026-11-15", "2026-11-20", "2026-11-15 to 2026-11-19"],
  ["2026-11", "2026-11", "2026-11-01", null, "2026-11-01 to 2026-11-21"],
  ["7d", "today", "2026-11-15", null, "2026-11-15 to 2026-11-21"],
  ["7d", "2999-01-01", "2026-11-15", null, "2026-11-15 to 2026-11-21"],
  [
    "2026-11-20T23:30Z",
    "2026-11-21T09:00Z",
    "2026-11-20T23:30Z",
    "2026-11-21T09:00Z",
    "2026-11-20T23:30Z to 2026-11-21T09:00Z",
  ],
  [
    "yesterday",
    "2026-11-20T13:00+01:00",
    "2026-11-20",
    "2026-11-20T12:00Z",
    "2026-11-20 to 2026-11-20T13:00+01:00",
  ],
  [
    "2026-11-21T09:00:30.5Z",
    "2026-11-21T13:00Z",
    "2026-11-21T09:00:30.500Z",
    null,
    "2026-11-21T09:00:30.5Z to 2026-11-21T13:00Z",
  ],
] as const) {
  test(`--since ${from} --until ${to} is ${title}`, () => {
    assert.deepEqual(parsePeriod({ since: from, until: to }, NOW, UTC_CALENDAR), {
      since: Date.parse(start),
      until: end === null ? null : Date.parse(end),
      title,
    });
  });
}

test("a period of hours may end before today", () => {
  assert.deepEqual(parsePeriod({ since: "48h", until: "yesterday" }, NOW, UTC_CALENDAR), {
    since: Date.UTC(2026, 10, 19, 12, 30),
    until: Date.UTC(2026, 10, 21),
    title: "2026-11-19 to 2026-11-20",
  });
});

for (const [from, to, reason] of [
  ["today", "yesterday", /cannot read --until "yesterday": it is before --since "today"/],
  ["7d", "24h", /cannot read --until "24h": it is neither/],
  ["7d", "2026-02-30", /cannot read --until "2026-02-30": there is no such day/],
] as const) {
  test(`refuses --since ${from} --until ${to}`, () => {
    assert.throws(() => parsePeriod({ since: from, until: to }, NOW, UTC_CALENDAR), reason);
  });
}

// In São Paulo the clocks went forward at midnight, so that the day began at one; Samoa left out a day in 2011.
for (const [zone, day, start, hours, before] of [
  ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25, "2026-10-24"],
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23, "2026-03-28"],
  ["America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", 23, "2018-11-03"],
  ["Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", 24, "2011-12-29"],
  ["Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00Z", 24, "2025-12-31"],
] as const) {
  test(`${day} in ${zone} begins at ${start} and lasts ${hours} hours`, () => {
    const calendar = zonedCalendar(zone);
    const from = calendar.startOf(day);
    assert.equal(from, Date.parse(start));
    assert.equal(calendar.startOf(day, 1) - from, hours * 3_600_000);
    assert.deepEqual([calendar.dayOf(from), calendar.dayOf(from - 1)], [day, before]);
  });
}
