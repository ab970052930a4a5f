import assert from "node:assert/strict";
import * as fc from "fast-check";
import { summarise, type Row } from "../../src/core/ledger/report.ts";
import { property, type Property } from "./property.ts";
import { story, type Story, type Sums } from "./stories.ts";

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

/** What the stories come to, added up plainly. */
function addUp(stories: readonly Story[], by: Named): Map<string | null, number[]> {
  const rows = new Map<string | null, number[]>();
  for (const { sums, ...names } of stories.flatMap(({ adds }) => adds)) {
    const row = rows.get(names[by]) ?? NAMES.map(() => 0);
    rows.set(
      names[by],
      row.map((sum, i) => sum + (sums[NAMES[i] ?? "failed"] ?? 0)),
    );
  }
  return rows;
}

function numbersOf(row: Row): number[] {
  return NAMES.map((name) => row[name]);
}

/** The stories with their records in the ledger's order: by day, and within a day as they come. */
const told = fc.array(story, { maxLength: 12 }).chain((stories) => {
  const all = stories.flatMap(({ records }) => records);
  return fc.shuffledSubarray(all, { minLength: all.length }).map((records) => ({
    stories,
    records: records.toSorted((a, b) =>
      a.ts.slice(0, 10) < b.ts.slice(0, 10) ? -1 : a.ts.slice(0, 10) > b.ts.slice(0, 10) ? 1 : 0,
    ),
  }));
});

export const REPORT: readonly Property[] = [
  property(
    "report: its sums are those of what happened, each thing once, in whatever order it was recorded",
    { batch: 200 },
    fc.asyncProperty(
      told,
      fc.constantFrom<Named>("tool", "model", "day"),
      async ({ stories, records }, by) => {
        const { rows, total } = await summarise(records, by);
        const expected = addUp(stories, by);
        assert.deepEqual(new Map(rows.map((row) => [row.name, numbersOf(row)])), expected);
        const all = [...expected.values()].reduce(
          (sum, row) => sum.map((n, i) => n + (row[i] ?? 0)),
          NAMES.map(() => 0),
        );
        assert.deepEqual(numbersOf(total), all);
      },
    ),
  ),
];
