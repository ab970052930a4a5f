import assert from "node:assert/strict";
import { test } from "node:test";
import { BudgetClock } from "../../../src/core/budget/clock.ts";

const S = 1_000;
const HOUR = 3_600 * S;

/** Reads a clock at each of `readings`, both in milliseconds from the start; returns the times. */
function readAll(readings: [wall: number, monotonic: number][]): number[] {
  const clock = new BudgetClock(1e12, 77);
  return readings.map(([wall, monotonic]) => clock.read(1e12 + wall, 77 + monotonic) - 1e12);
}

const CASES: [what: string, readings: [wall: number, monotonic: number][], times: number[]][] = [
  [
    "a clock that runs",
    [
      [10, 10],
      [HOUR, HOUR],
      [HOUR, HOUR],
    ],
    [10, HOUR, HOUR],
  ],
  [
    "a clock that is adjusted a little",
    [
      [4 * S, 1 * S],
      [3 * S, 2 * S],
    ],
    [4 * S, 3 * S],
  ],
  [
    "a clock that is slewed",
    [
      [1001 * S, 1000 * S],
      [2002 * S, 2000 * S],
    ],
    [1001 * S, 2002 * S],
  ],
  [
    "a clock that is set back is believed at once",
    [
      [-HOUR, 10],
      [-HOUR + 10, 20],
    ],
    [-HOUR, -HOUR + 10],
  ],
  [
    "one that leaps ahead is believed after a minute",
    [
      [HOUR, 10],
      [HOUR + 59_989, 59_999],
      [HOUR + 60_000, 60_010],
    ],
    [10, 59_999, HOUR + 60_000],
  ],
  [
    "one that leaps ahead and is corrected opens nothing",
    [
      [HOUR, 10],
      [30 * S, 30 * S],
      [90 * S, 90 * S],
    ],
    [10, 30 * S, 90 * S],
  ],
  [
    "a second leap is doubted for a minute of its own",
    [
      [HOUR, 10],
      [3 * HOUR, 50 * S],
      [3 * HOUR + 20 * S, 70 * S],
      [3 * HOUR + 60 * S, 110 * S],
    ],
    [10, 50 * S, 70 * S, 3 * HOUR + 60 * S],
  ],
  [
    "a leap that is partly taken back stays in doubt",
    [
      [5 * HOUR, 0],
      [4 * HOUR, 30 * S],
      [4 * HOUR + 30 * S, 60 * S],
    ],
    [0, 30 * S, 4 * HOUR + 30 * S],
  ],
  [
    "a suspended computer",
    [
      [0, 0],
      [8 * HOUR, 1 * S],
      [8 * HOUR + 60 * S, 61 * S],
    ],
    [0, 1 * S, 8 * HOUR + 60 * S],
  ],
  [
    "set back below the time it leapt from",
    [
      [HOUR, 10],
      [-HOUR, 20],
    ],
    [10, -HOUR],
  ],
];

for (const [what, readings, times] of CASES)
  test(what, () => {
    assert.deepEqual(readAll(readings), times);
  });

test("a clock that leaps again and again is never ahead of one that ran", () => {
  const clock = new BudgetClock(0, 0);
  let last = 0;
  for (let minute = 1; minute < 100; minute += 1) {
    last = clock.read(minute * HOUR, minute * 30 * S);
    assert.equal(last, minute * 30 * S);
  }
});
