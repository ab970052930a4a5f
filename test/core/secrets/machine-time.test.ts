import assert from "node:assert/strict";
import { test } from "node:test";
import { MachineTime } from "../../../src/core/secrets/machine-time.ts";

const HOUR_MS = 3_600_000;

/** What the clocks do between two readings, what of it has passed, and whether the third clock is needed. */
const CASES: [what: string, wall: number, awake: number, boot: number, passed: number, isAsked: boolean][] = [
  ["a minute passes", 60_000, 60_000, 60_000, 60_000, false],
  ["the wall clock is adjusted", 60_900, 60_000, 60_000, 60_000, false],
  ["the wall clock is set back", -HOUR_MS, 60_000, 60_000, 60_000, true],
  ["the wall clock is set ahead", HOUR_MS, 60_000, 60_000, 60_000, true],
  ["the machine sleeps", HOUR_MS, 60_000, HOUR_MS, HOUR_MS, true],
  ["the machine sleeps and the wall clock is set ahead", 3 * HOUR_MS, 60_000, HOUR_MS, HOUR_MS, true],
  [
    "the wall clock is set ahead, and the third clock counts whole seconds",
    HOUR_MS,
    60_500,
    60_000,
    60_500,
    true,
  ],
];

for (const [what, wall, awake, boot, passed, isAsked] of CASES)
  test(`the machine's time when ${what}`, () => {
    const time = new MachineTime(1e12, 7, 5_000);
    let asked = 0;
    const sinceBoot = () => {
      asked += 1;
      return 5_000 + boot;
    };
    assert.equal(time.read(1e12 + wall, 7 + awake, sinceBoot), passed);
    assert.equal(asked > 0, isAsked);
    // From there on it is as if nothing had been.
    assert.equal(time.read(1e12 + wall + 500, 7 + awake + 500, sinceBoot), passed + 500);
    assert.equal(asked, isAsked ? 1 : 0);
  });
