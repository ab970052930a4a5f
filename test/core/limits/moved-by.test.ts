import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { lengthOf } from "../../../src/core/limits/limit-names.ts";
import { MOVERS, shareOut } from "../../../src/core/limits/moved-by.ts";
import { Tally } from "../../../src/core/ledger/tally.ts";
import { NO_SLOTS } from "../../../src/core/price/time-slots.ts";

const SINCE = Date.UTC(2026, 10, 29, 11, 40);

function tallyOf(tokens: number): Tally {
  return Object.assign(new Tally(NO_SLOTS), { cache_read: tokens });
}

/** A report with these tokens by tool, project and session. */
function report(rows: readonly [names: (string | null)[], tokens: number][]) {
  const total = rows.reduce((sum, [, tokens]) => sum + tokens, 0);
  return {
    rows: rows.map(([names, tokens]) => ({ names, sums: tallyOf(tokens) })),
    total: { sums: tallyOf(total) },
  };
}

test("tokens since the window began are shared out by tool, project and session, most first", () => {
  const shared = shareOut(
    report([
      [["nightly", "/src/shop", "one"], 100],
      [["claude-code", null, "two"], 500],
      [["claude-code", "/src/shop", "three"], 200],
    ]),
    SINCE,
  );
  assert.deepEqual(shared, {
    since: "2026-11-29T11:40:00.000Z",
    tokens: 800,
    tool: [
      { name: "claude-code", tokens: 700, sharePercent: 87.5 },
      { name: "nightly", tokens: 100, sharePercent: 12.5 },
    ],
    project: [
      { name: null, tokens: 500, sharePercent: 62.5 },
      { name: "/src/shop", tokens: 300, sharePercent: 37.5 },
    ],
    session: [
      { name: "two", tokens: 500, sharePercent: 62.5 },
      { name: "three", tokens: 200, sharePercent: 25 },
      { name: "one", tokens: 100, sharePercent: 12.5 },
    ],
  });
  assert.equal(shareOut(report([[["nightly", null, null], 0]]), SINCE), null);
});

const names = fc.tuple(
  fc.option(fc.constantFrom("a", "b", "c")),
  fc.option(fc.constantFrom("/p", "/q")),
  fc.option(fc.constantFrom("s", "t", "u")),
);

test("each way to share out has all tokens, each name once", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(names, fc.nat(10_000)), { minLength: 1 }), (rows) => {
      const shared = shareOut(report(rows), SINCE);
      const total = rows.reduce((sum, [, tokens]) => sum + tokens, 0);
      assert.equal(shared?.tokens ?? 0, total);
      for (const mover of shared === null ? [] : MOVERS) {
        const list = shared?.[mover] ?? [];
        assert.equal(
          list.reduce((sum, { tokens }) => sum + tokens, 0),
          total,
        );
        assert.equal(new Set(list.map(({ name }) => name)).size, list.length);
        assert.deepEqual(
          list.map(({ tokens }) => tokens),
          list.map(({ tokens }) => tokens).toSorted((one, other) => other - one),
        );
      }
    }),
  );
});

test("only a window that is named by its length has a beginning", () => {
  assert.equal(lengthOf("5h"), 5 * 3_600_000);
  assert.equal(lengthOf("7d"), 7 * 24 * 3_600_000);
  assert.equal(lengthOf("90min"), 90 * 60_000);
  for (const other of ["requests", "retry", "overage", "7d overage-included", "5h codex_bengalfox"])
    assert.equal(lengthOf(other), null, other);
});
