import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatAxisDollars,
  decimalsOf,
  describeChange,
  formatChange,
  formatDay,
  formatDollars,
  formatDollarsIn,
  formatSeconds,
} from "../../../../src/local/dashboard/page/numbers.ts";
import { dayOf } from "../../../../src/local/dashboard/page/times.ts";

/** Distances of ticks that a chart may choose, and how the first three are written. */
const AXES: [step: number, labels: string[]][] = [
  [0.025, ["$0.025", "$0.050", "$0.075"]],
  [0.0025, ["$0.0025", "$0.0050", "$0.0075"]],
  [0.05, ["$0.05", "$0.10", "$0.15"]],
  [0.5, ["$0.50", "$1.00", "$1.50"]],
  [1, ["$1", "$2", "$3"]],
  [2.5, ["$2.50", "$5.00", "$7.50"]],
  [20, ["$20", "$40", "$60"]],
  [0.0000005, ["$0.0000005", "$0.0000010", "$0.0000015"]],
  [0.000001, ["$0.000001", "$0.000002", "$0.000003"]],
];

for (const [step, labels] of AXES)
  test(`ticks $${step} apart look as far apart as they are`, () => {
    assert.deepEqual(
      [1, 2, 3].map((times) => formatAxisDollars(times * step, step)),
      labels,
    );
  });

test("durations have a tenth of a second, as far as that says something, and minutes from there on", () => {
  assert.deepEqual([0, 99, 100, 2_000, 99_940, 199_400, 3_608_000].map(formatSeconds), [
    "<0.1 s",
    "<0.1 s",
    "0.1 s",
    "2.0 s",
    "99.9 s",
    "3 min 19 s",
    "60 min 8 s",
  ]);
});

test("changes are percentages with a minus sign, and from ten times on times", () => {
  const changes = [
    [4, 3],
    [12, 1],
    [3, 4],
    [1, 1],
    [1, 0],
  ] as const;
  assert.deepEqual(
    changes.map(([now, before]) => formatChange(now, before)),
    ["+33%", "×12", "−25%", "0%", ""],
  );
});

test("dollars below nothing have a minus sign, and no hyphen", () => {
  assert.deepEqual([-2.5, -0.05].map(formatDollars), ["−$2.50", "−$0.0500"]);
});

test("dollars of a column have the same decimals, but for what they would show as nothing", () => {
  const column = [12.5, 0.925, 0.0049, -0.2, 0];
  const decimals = decimalsOf(column);
  assert.deepEqual(
    column.map((dollars) => formatDollarsIn(dollars, decimals)),
    ["$12.50", "$0.93", "$0.005", "−$0.20", "$0.00"],
  );
  const cheap = [0.147, 0.00867, 0.00001];
  assert.deepEqual(
    cheap.map((dollars) => formatDollarsIn(dollars, decimalsOf(cheap))),
    ["$0.147", "$0.009", "$0.00001"],
  );
});

test("a change in a sentence says what it is a change of", () => {
  assert.equal(describeChange(4, 3, "yesterday"), "+33% on yesterday");
  assert.equal(describeChange(39, 1, "yesterday"), "39 times yesterday");
  assert.equal(describeChange(1, 0, "yesterday"), "");
});

/** A local day, as feeds write it. */
function dayAt(year: number, month: number, day: number): string {
  return dayOf(new Date(year, month, day, 12));
}

test("a day is named as briefly as says which it is", () => {
  const now = new Date();
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  assert.equal(formatDay(dayAt(year, month, day)), "today");
  assert.equal(formatDay(dayAt(year, month, day - 1)), "yesterday");
  assert.match(formatDay(dayAt(year - 1, month, day - 9)), /^\w{3} \d{1,2}, \d{4}$/);
  assert.match(formatDay(dayAt(year, month > 5 ? 1 : 10, 5)), /^\w{3} 5$/);
});
