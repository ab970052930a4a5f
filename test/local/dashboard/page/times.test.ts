import assert from "node:assert/strict";
import { test } from "node:test";
import {
  dayOf,
  describeBefore,
  spanBefore,
  spanOf,
  timesIn,
  zoomInto,
  type SpanQuery,
} from "../../../../src/local/dashboard/page/times.ts";
import { setEnvironment } from "../../../helpers/process/set-environment.ts";

/** The clocks went back in Berlin on 25 October 2026. */
const NOW = new Date("2026-10-26T09:30:00Z");
const iso = (text: string) => new Date(text).toISOString();

for (const [query, from, to, before, words] of [
  [
    { since: "today" },
    "2026-10-25T23:00Z",
    "2026-10-26T09:30Z",
    ["2026-10-24T22:00Z", "2026-10-25T09:30Z"],
    "yesterday by this time",
  ],
  [
    { since: "7d" },
    "2026-10-19T22:00Z",
    "2026-10-26T09:30Z",
    ["2026-10-12T22:00Z", "2026-10-19T08:30Z"],
    "the 7 days before",
  ],
  [
    { since: "month" },
    "2026-09-30T22:00Z",
    "2026-10-26T09:30Z",
    ["2026-08-31T22:00Z", "2026-09-26T08:30Z"],
    "September, until the same day",
  ],
  [
    { since: "last-month" },
    "2026-08-31T22:00Z",
    "2026-09-30T22:00Z",
    ["2026-07-31T22:00Z", "2026-08-31T22:00Z"],
    "August",
  ],
  [
    { since: "2026-10-25", until: "2026-10-25" },
    "2026-10-24T22:00Z",
    "2026-10-25T23:00Z",
    ["2026-10-23T22:00Z", "2026-10-24T22:00Z"],
    "the day before",
  ],
  [
    { since: "2026-10-20T08:00:00.000Z", until: "2026-10-20T10:00:00.000Z" },
    "2026-10-20T08:00Z",
    "2026-10-20T10:00Z",
    ["2026-10-19T08:00Z", "2026-10-19T10:00Z"],
    "the day before",
  ],
  [
    { since: "2026-10-20", until: "2026-12-31" },
    "2026-10-19T22:00Z",
    "2026-10-26T09:30Z",
    ["2026-10-12T22:00Z", "2026-10-19T08:30Z"],
    "the 7 days before",
  ],
] satisfies [SpanQuery, string, string, [string, string], string][]) {
  test(`${query.since} ${query.until ?? ""} is compared with ${words}, to the same time of day`, (t) => {
    setEnvironment(t, { TZ: "Europe/Berlin" });
    const span = spanOf(query, NOW);
    assert.deepEqual([span.from.toISOString(), span.to.toISOString()], [iso(from), iso(to)]);
    assert.deepEqual(spanBefore(span), { since: iso(before[0]), until: iso(before[1]) });
    assert.equal(describeBefore(span), words);
  });
}

test("a month is compared until its end with a shorter one before it", (t) => {
  setEnvironment(t, { TZ: "Europe/Berlin" });
  const span = spanOf({ since: "month" }, new Date("2026-03-31T12:00"));
  assert.deepEqual(spanBefore(span), { since: iso("2026-01-31T23:00Z"), until: iso("2026-02-28T23:00Z") });
});

test("a day has its hours as reports name them, one of which stands for two when clocks go back", (t) => {
  setEnvironment(t, { TZ: "Europe/Berlin" });
  const hours = timesIn(spanOf({ since: "2026-10-25", until: "2026-10-25" }, NOW));
  assert.equal(hours.length, 24);
  assert.deepEqual(hours.slice(1, 4), ["2026-10-25 01:00", "2026-10-25 02:00", "2026-10-25 03:00"]);
  const days = timesIn(spanOf({ since: "7d" }, NOW));
  assert.deepEqual([days.length, days[0], days.at(-1)], [7, "2026-10-20", "2026-10-26"]);
  assert.equal(timesIn(spanOf({ since: "90d" }, NOW)).length, 90);
});

test("a year has its weeks, by their Mondays, of which the first may have begun before", (t) => {
  setEnvironment(t, { TZ: "Europe/Berlin" });
  const span = spanOf({ since: "365d" }, NOW);
  const weeks = timesIn(span);
  assert.equal(dayOf(span.from), "2025-10-27");
  assert.deepEqual([weeks.length, weeks[0], weeks.at(-1)], [53, "2025-10-27", "2026-10-26"]);
  assert.deepEqual(timesIn(spanOf({ since: "2026-01-01", until: "2026-06-30" }, NOW)).slice(0, 2), [
    "2025-12-29",
    "2026-01-05",
  ]);
});

test("what is selected in a chart becomes a span of its weeks, days or hours", (t) => {
  setEnvironment(t, { TZ: "Europe/Berlin" });
  const [week, year] = [
    spanOf({ since: "7d" }, NOW),
    spanOf({ since: "2026-01-01", until: "2026-06-30" }, NOW),
  ];
  assert.deepEqual(zoomInto(week, "2026-10-20", "2026-10-22"), { since: "2026-10-20", until: "2026-10-22" });
  // The first week, which the span has a part of, and the one after it.
  assert.deepEqual(zoomInto(year, "2025-12-29", "2026-01-05"), { since: "2026-01-01", until: "2026-01-11" });
  const day = spanOf({ since: "2026-10-20", until: "2026-10-20" }, NOW);
  const hours = zoomInto(day, "2026-10-20 10:00", "2026-10-20 11:00");
  assert.deepEqual(hours, { since: "2026-10-20T08:00:00.000Z", until: "2026-10-20T10:00:00.000Z" });
  assert.deepEqual(timesIn(spanOf(hours, NOW)), ["2026-10-20 10:00", "2026-10-20 11:00"]);
});
