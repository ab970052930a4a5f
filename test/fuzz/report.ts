import assert from "node:assert/strict";
import * as fc from "fast-check";
import { UTC_CALENDAR } from "../../src/core/ledger/calendar.ts";
import { summarise, type ReportRow } from "../../src/core/ledger/report.ts";
import { priceBook } from "../helpers/ledger/prices.ts";
import { property, type Property } from "./property.ts";
import { reportCase, type ReportCase, type Sums } from "./report-cases.ts";

const PRICES = priceBook({});

const NAMES = [
  "requests",
  "failed",
  "input_uncached",
  "cache_read",
  "cache_write",
  "output",
  "partial",
  "absent",
  "maybe_unbilled",
] as const satisfies (keyof Sums)[];

type Named = "tool" | "model" | "day";

/** Adds the cases up in the simplest way. */
function addUp(cases: readonly ReportCase[], by: Named): Map<string | null, number[]> {
  const rows = new Map<string | null, number[]>();
  for (const { sums, ...names } of cases.flatMap(({ adds }) => adds)) {
    const row = rows.get(names[by]) ?? NAMES.map(() => 0);
    rows.set(
      names[by],
      row.map((sum, i) => sum + (sums[NAMES[i] ?? "failed"] ?? 0)),
    );
  }
  return rows;
}

function numbersOf({ sums }: ReportRow): number[] {
  return NAMES.map((name) => sums[name]);
}

/** Cases with their records in the ledger's order: by day, and in any order within a day. */
const recordedCases = fc.array(reportCase, { maxLength: 12 }).chain((cases) => {
  const all = cases.flatMap(({ records }) => records);
  return fc.shuffledSubarray(all, { minLength: all.length }).map((records) => ({
    cases,
    records: records.toSorted((a, b) =>
      a.ts.slice(0, 10) < b.ts.slice(0, 10) ? -1 : a.ts.slice(0, 10) > b.ts.slice(0, 10) ? 1 : 0,
    ),
  }));
});

export const REPORT: readonly Property[] = [
  property(
    "report: its sums count every event once, in whatever order the records were written",
    { batch: 200 },
    fc.property(recordedCases, fc.constantFrom<Named>("tool", "model", "day"), ({ cases, records }, by) => {
      const { rows, total } = summarise(records, {
        by: [by],
        calendar: UTC_CALENDAR,
        prices: PRICES,
        filter: {},
      });
      const expected = addUp(cases, by);
      assert.deepEqual(new Map(rows.map((row) => [row.names[0] ?? null, numbersOf(row)])), expected);
      const all = [...expected.values()].reduce(
        (sum, row) => sum.map((n, i) => n + (row[i] ?? 0)),
        NAMES.map(() => 0),
      );
      assert.deepEqual(numbersOf(total), all);
      assert.equal(
        rows.reduce((sum, { cost }) => sum + cost.amount, 0n),
        total.cost.amount,
      );
    }),
  ),
];
