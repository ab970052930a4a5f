import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Sums } from "../../../../src/local/dashboard/page/feed-types.ts";
import {
  costsBeside,
  differenceOf,
  sharesBeside,
} from "../../../../src/local/dashboard/page/overview/difference.ts";
import { addGroups } from "../../../../src/local/dashboard/page/overview/groups.ts";

function sums(cost: string | null, isExact = true): Sums {
  return { cost_usd: cost, cost_is_exact: isExact, unpriced: [], requests: 1, failed: 0 } as unknown as Sums;
}

/** Dollars with up to eight places, as decimal text; mostly of usual sizes. */
const DOLLARS = fc
  .tuple(fc.constantFrom(1n, 100n, 10_000n, 1_000_000n, 100_000_000n), fc.bigInt({ min: 1n, max: 9_999n }))
  .map(([size, digits]) => {
    const text = (size * digits).toString().padStart(9, "0");
    return `${text.slice(0, -8)}.${text.slice(-8)}`;
  });

/** The digits of a figure, as a number of units of its last place, and how many places it has. */
function read(figure: string): { units: bigint; places: number } {
  const text = figure.replace("−", "-").replaceAll(/[^-\d.]/g, "");
  return { units: BigInt(text.replace(".", "")), places: text.split(".")[1]?.length ?? 0 };
}

/** Whether a shown difference is that of two shown figures, rounded to its own places. */
function agree(now: string, before: string, difference: string): boolean {
  const all = [now, before, difference].map(read);
  const most = Math.max(...all.map(({ places }) => places));
  const [one = 0n, other = 0n, shown = 0n] = all.map(
    ({ units, places }) => units * 10n ** BigInt(most - places),
  );
  const off = one - other - shown;
  const unit = 10n ** BigInt(most - (all[2]?.places ?? 0));
  return unit === 1n ? off === 0n : 2n * (off < 0n ? -off : off) <= unit;
}

test("a shown difference is that of the shown costs, and is the exact one, rounded", () => {
  fc.assert(
    fc.property(DOLLARS, DOLLARS, (one, other) => {
      const { now, before, difference } = costsBeside(sums(one), sums(other));
      assert.ok(agree(now, before, difference), `${now} ${before} ${difference}`);
      const { units, places } = read(difference);
      const exact = differenceOf(sums(one), sums(other));
      assert.ok(Math.abs(Number(units) / 10 ** places - exact) <= 0.5 / 10 ** places + 1e-9, difference);
      assert.equal(units === 0n, exact === 0, "only no difference is shown as none");
    }),
    { numRuns: 2_000 },
  );
});

for (const [one, other, shown] of [
  // As many places as usual where they agree.
  ["19.73", "12.03", ["$19.73", "$12.03", "+$7.70"]],
  ["2.05", "0.765", ["$2.05", "$0.765", "+$1.29"]],
  // -2.072 is -$2.07 and not the -$2.08 that the costs would give in cents.
  ["6.724", "8.796", ["$6.724", "$8.796", "−$2.072"]],
  ["1.00002", "1.00001", ["$1.00002", "$1.00001", "+$0.00001"]],
  ["0", "0", ["$0.00", "$0.00", ""]],
] as const)
  test(`$${one} beside $${other}: ${shown.join(", ")}`, () => {
    const { now, before, difference } = costsBeside(sums(one), sums(other));
    assert.deepEqual([now, before, difference], shown);
  });

for (const [isNow, isBefore, sign] of [
  [true, true, ""],
  [false, true, "≥"],
  [true, false, "≤"],
  [false, false, "≈"],
] as const)
  test(`a difference of ${isNow ? "an exact cost" : "at least a cost"} and ${isBefore ? "an exact one" : "at least one"} has "${sign}"`, () => {
    const { now, before, difference } = costsBeside(sums("3", isNow), sums("5", isBefore));
    assert.deepEqual(
      [now, before, difference],
      [`${isNow ? "" : "≥"}$3.00`, `${isBefore ? "" : "≥"}$5.00`, `${sign}−$2.00`],
    );
  });

test("points are those between the shown shares, whatever the shares are", () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(1_000), (one, other) => {
      const { now, before, difference } = sharesBeside(one / 1_000, other / 1_000);
      assert.ok(agree(now, before, difference), `${now} ${before} ${difference}`);
      // Only nothing is 0%, and only all is 100%.
      for (const [share, text] of [
        [one, now],
        [other, before],
      ] as const)
        assert.equal(/^(?:0|100)%$/.test(text), share === 0 || share === 1_000, text);
    }),
  );
  assert.deepEqual(sharesBeside(0.85, 0.89), { now: "85%", before: "89%", difference: "−4 points" });
});

test("costs of several times are added exactly", () => {
  const rows = ["0.1", "0.2", "0.7"].map((cost) => ({ ...sums(cost), tool: "zed" }));
  assert.equal(addGroups(rows, "tool")[0]?.cost_usd, "1");
});
