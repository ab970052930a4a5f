import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Row, Status } from "../../../../src/local/dashboard/page/feed-types.ts";
import { assumedIn, describeCourse } from "../../../../src/local/dashboard/page/overview/course.ts";
import { firstDayOf, forecastOf } from "../../../../src/local/dashboard/page/overview/forecast.ts";
import { dayOf, startOfDay } from "../../../../src/local/dashboard/page/times.ts";
import { setEnvironment } from "../../../helpers/process/set-environment.ts";

function row(day: string, usd: string | null, isExact = true): Row {
  const sums = { day, cost_usd: usd, cost_is_exact: isExact };
  return sums as unknown as Row;
}

function rounded({ usd, isExact }: { usd: number; isExact: boolean }) {
  return { usd: usd.toFixed(2), isExact };
}

/** As many days until today, each with this cost. */
function daily(now: Date, days: number, usd: string): Row[] {
  return Array.from({ length: days }, (_, at) => row(dayOf(startOfDay(now, -at)), usd));
}

const NOON = new Date("2026-11-20T12:00:00");

for (const [what, rows, expected] of [
  // 6.5 days cost 70 dollars, so 10.5 days more cost 113.08.
  ["each day costs the same", daily(NOON, 40, "10"), 200 + (70 / 6.5) * 10.5],
  ["the first request was two days ago", daily(NOON, 3, "10"), 30 + (30 / 2.5) * 10.5],
  ["the first request was today", daily(NOON, 1, "10"), null],
  ["there is no request", [], null],
  ["the last week cost nothing", [row("2026-11-02", "50")], null],
] as const) {
  test(`the month's end, if ${what}: ${expected ?? "nothing is said"}`, () => {
    const { monthAtEnd } = forecastOf(rows, NOON);
    if (expected === null) assert.equal(monthAtEnd, null);
    else assert.ok(Math.abs((monthAtEnd ?? 0) - expected) < 1e-9, String(monthAtEnd));
  });
}

test("the course says what is known first, and then what it is with what a budget of the month assumes", () => {
  const rows = daily(NOON, 40, "10").map((one) => ({ ...one, cost_is_exact: false }));
  const forecast = forecastOf(rows, NOON);
  assert.deepEqual(describeCourse(forecast, 0), ["on course for $313 or more"]);
  assert.deepEqual(describeCourse(forecast, 33.15), [
    "on course for $313 or more",
    "$346 with assumed prices",
  ]);
  // The same amount is said once.
  assert.deepEqual(describeCourse(forecast, 0.04), ["on course for $313 or more"]);
  const exact = forecastOf(daily(NOON, 40, "10"), NOON);
  assert.deepEqual(describeCourse(exact, 0), ["on course for about $313"]);
  assert.deepEqual(describeCourse({ ...exact, monthAtEnd: null }, 0), []);
});

function withBudgets(budgets: readonly object[]): Status {
  return { budgets } as unknown as Status;
}

test("what is assumed of a month is what its budget of all tools in dollars assumes", () => {
  const all = { scope: { kind: "all" }, limit: { usd: 380 }, window: { per: "month" }, assumed: "33.15" };
  const budgets = [
    all,
    { ...all, scope: { kind: "tool", name: "codex" }, assumed: "50" },
    { ...all, window: { per: "day" }, assumed: "60" },
    { ...all, window: { rolling: 5 }, assumed: "70" },
    { ...all, limit: { tokens: 9, class: null }, assumed: "80" },
  ];
  assert.equal(assumedIn(withBudgets(budgets)), 33.15);
  assert.equal(assumedIn(withBudgets(budgets.slice(1))), 0);
});

test("today, yesterday, this month and the last are the sums of their days, also when clocks change", (t) => {
  setEnvironment(t, { TZ: "Europe/Berlin" });
  const cents = fc.integer({ min: 0, max: 9_999 });
  const costs = fc.array(fc.tuple(cents, fc.boolean()), { minLength: 62, maxLength: 62 });
  const moments = fc.constantFrom(
    "2026-10-25T03:30",
    "2026-03-29T12:00",
    "2026-11-01T00:30",
    "2026-12-31T23:59",
  );
  fc.assert(
    fc.property(moments, costs, (moment, days) => {
      const now = new Date(moment);
      const rows = days.flatMap(([cost, isExact], at) => {
        const day = startOfDay(now, -at);
        return day < firstDayOf(now) ? [] : [row(dayOf(day), (cost / 100).toFixed(2), isExact)];
      });
      const sum = (belongs: (day: string) => boolean) => {
        const found = rows.filter(({ day }) => belongs(String(day)));
        const usd = found.reduce((total, { cost_usd: cost }) => total + Number(cost), 0);
        return { usd: usd.toFixed(2), isExact: found.every((one) => one.cost_is_exact) };
      };
      const shown = forecastOf(rows, now);
      const [today, month] = [dayOf(now), dayOf(now).slice(0, 7)];
      assert.deepEqual(
        rounded(shown.today),
        sum((day) => day === today),
      );
      assert.deepEqual(
        rounded(shown.yesterday),
        sum((day) => day === dayOf(startOfDay(now, -1))),
      );
      assert.deepEqual(
        rounded(shown.month),
        sum((day) => day.startsWith(month)),
      );
      assert.deepEqual(
        rounded(shown.lastMonth),
        sum((day) => !day.startsWith(month)),
      );
    }),
  );
});

for (const [now, days, expected] of [
  ["2026-11-20T12:00:00", ["2026-10-20", "2026-10-21", "2026-09-30"], "1.00"],
  // February has no such day, so all of it counts.
  ["2026-03-31T12:00:00", ["2026-02-01", "2026-02-28", "2026-03-01"], "2.00"],
] as const)
  test(`on ${now.slice(0, 10)}, last month counts until the same day`, () => {
    const { lastMonthByNow } = forecastOf(
      days.map((day) => row(day, "1")),
      new Date(now),
    );
    assert.equal(lastMonthByNow.usd.toFixed(2), expected);
  });

test("a cost that is not known makes a sum a lower bound", () => {
  const { today, month } = forecastOf([row("2026-11-20", null, false), row("2026-11-19", "1")], NOON);
  assert.deepEqual(today, { usd: 0, isExact: false });
  assert.deepEqual(month, { usd: 1, isExact: false });
});
