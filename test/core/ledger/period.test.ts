import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { localCalendar, UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import { parsePeriod } from "../../../src/core/ledger/period.ts";
import { setEnvironment } from "../../helpers/process/set-environment.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 30);

for (const [text, [start, title]] of Object.entries({
  today: ["2026-11-21T00:00:00.000Z", "2026-11-21"],
  "1d": ["2026-11-21T00:00:00.000Z", "2026-11-21"],
  "7d": ["2026-11-15T00:00:00.000Z", "2026-11-15 to 2026-11-21"],
  "24h": ["2026-11-20T12:30:00.000Z", "last 24 hours"],
  "1h": ["2026-11-21T11:30:00.000Z", "last 1 hour"],
  "0h": ["2026-11-21T12:30:00.000Z", "last 0 hours"],
  "2026-11-01": ["2026-11-01T00:00:00.000Z", "2026-11-01 to 2026-11-21"],
  "2024-02-29": ["2024-02-29T00:00:00.000Z", "2024-02-29 to 2026-11-21"],
})) {
  test(`parses --since ${text} as the period that starts at ${start} in UTC`, () => {
    assert.deepEqual(parsePeriod(text, NOW, UTC_CALENDAR), { since: Date.parse(start ?? ""), title });
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
    assert.deepEqual(parsePeriod(text, Date.parse(now), calendar), { since: Date.parse(start), title });
  });
}

for (const [text, reason] of Object.entries({
  "": /neither a time span nor a date/,
  yesterday: /neither a time span nor a date/,
  "-7d": /neither a time span nor a date/,
  "7 d": /neither a time span nor a date/,
  "2026-11-1": /neither a time span nor a date/,
  "2026-02-30": /there is no such day/,
  "2026-13-01": /there is no such day/,
  "0d": /at least one day/,
  "40000d": /100 years/,
  "\u001b[2J": /^cannot read --since "\\u001b\[2J"/,
})) {
  test(`refuses --since ${JSON.stringify(text)}, and says what is wrong and what to write`, () => {
    assert.throws(
      () => parsePeriod(text, NOW, UTC_CALENDAR),
      (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, reason);
        assert.match(error.hint ?? "", /today, 24h, 7d or a date such as/);
        return true;
      },
    );
  });
}
