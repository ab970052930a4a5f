import assert from "node:assert/strict";
import { test } from "node:test";
import { labelledPlaces, ticksOfAxis } from "../../../../src/local/dashboard/page/chart/axis.ts";

for (const [most, ticks] of [
  [0, [0, 1]],
  [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [12.6, [0, 5, 10, 15]],
  [190_000, [0, 50_000, 100_000, 150_000, 200_000]],
  [120, [0, 25, 50, 75, 100, 125]],
] as const)
  test(`an axis to ${most} has its last tick at ${ticks.at(-1)}, in even steps`, () => {
    assert.deepEqual(
      ticksOfAxis(most).map((tick) => Number(tick.toFixed(9))),
      ticks,
    );
  });

test("an axis has as many steps as another one, if it has to", () => {
  assert.deepEqual(ticksOfAxis(2.3, 4), [0, 1, 2, 3, 4]);
  assert.deepEqual(ticksOfAxis(2.3, 5).length, 6);
});

test("times have a label where there is room, and numbered ones at round numbers", () => {
  assert.deepEqual(labelledPlaces(7, 100, undefined), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(labelledPlaces(30, 12, undefined), [0, 6, 12, 18, 24]);
  assert.deepEqual(labelledPlaces(30, 12, undefined, true), [5, 11, 17, 23, 29]);
  assert.deepEqual(labelledPlaces(12, 10, 11), [9]);
  assert.deepEqual(labelledPlaces(300, 3, 11), [39, 89, 139, 189, 239, 289]);
});
