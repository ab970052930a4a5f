import assert from "node:assert/strict";
import { test } from "node:test";
import type { BudgetBook } from "../../../src/core/budget/book.ts";
import { encodeState, NO_STATE, parseState } from "../../../src/core/budget/state.ts";
import { bookFor, settingsFor } from "../../helpers/budget/budget-book.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-21T11:30:00Z");
const MIDNIGHT = Date.parse("2026-11-21T23:00:00Z");
const HOUR = 3_600_000;

function spend(book: BudgetBook, output: number, now = NOW) {
  const record = usageRecord({ ts: new Date(now).toISOString(), model: "plain", tokens: tokens({ output }) });
  return book
    .settle(null, record, now)
    .map(({ budget, share, spent, until }) => [budget.id, share, Number(spent), until]);
}

const DAY = { budgets: [{ tokens: 1_000, per: "day", warn: [0.9, 0.5, 1] }] };
const ID = "all: tokens per day";

test("each share is warned of once in a window, in order, also when one request spends several", () => {
  const book = bookFor(DAY, NOW);
  assert.deepEqual(spend(book, 499), []);
  assert.deepEqual(spend(book, 1), [[ID, 0.5, 500, MIDNIGHT]]);
  assert.deepEqual(spend(book, 1), []);
  assert.deepEqual(spend(book, 1_000), [
    [ID, 0.9, 1_501, MIDNIGHT],
    [ID, 1, 1_501, MIDNIGHT],
  ]);
  assert.deepEqual(spend(book, 1_000), []);
  assert.deepEqual(
    spend(book, 500, MIDNIGHT).map(([, share]) => share),
    [0.5],
  );
});

test("a restart does not warn again, and warns of what was spent without a warning", () => {
  const book = bookFor(DAY, NOW);
  spend(book, 600);
  const again = (text: string) => {
    const state = parseState(text);
    assert.ok(typeof state === "object");
    const restarted = bookFor(DAY, NOW, state);
    for (const output of [600, 350])
      restarted.add(usageRecord({ ts: new Date(NOW).toISOString(), tokens: tokens({ output }) }));
    return restarted.warnings(NOW).map(({ share }) => share);
  };
  assert.deepEqual(again(encodeState(book.state, NOW)), [0.9]);
  assert.deepEqual(again(encodeState(NO_STATE, NOW)), [0.5, 0.9]);
});

test("a lower limit warns at once of the shares that are spent by it, a reset lets them be warned of again", () => {
  const book = bookFor(DAY, NOW);
  spend(book, 499);
  book.reload(settingsFor({ budgets: [{ ...DAY.budgets[0], tokens: 900 }] }), NOW);
  assert.deepEqual(
    book.warnings(NOW).map(({ share }) => share),
    [0.5],
  );
  assert.deepEqual(book.warnings(NOW), []);
  book.reset(ID, NOW);
  assert.deepEqual(
    spend(book, 450).map(([, share]) => share),
    [0.5],
  );
});

test("a share of a rolling window is warned of again when the window's length has passed", () => {
  const book = bookFor({ budgets: [{ tokens: 10, rolling: 1, warn: [1] }] }, NOW);
  const until = NOW + HOUR + 5 * 60_000;
  assert.deepEqual(spend(book, 10), [["all: tokens in 1 hour", 1, 10, until]]);
  assert.deepEqual(spend(book, 10, until - 1), []);
  assert.deepEqual(
    spend(book, 10, until).map(([, share]) => share),
    [1],
  );
});

test("a share is spent when exactly so much was, and a budget of nothing when anything was", () => {
  const book = bookFor(
    {
      budgets: [
        { tokens: 3_333, per: "day", warn: [0.0003] },
        { tokens: 0, per: "hour", warn: [1] },
      ],
    },
    NOW,
  );
  assert.deepEqual(book.warnings(NOW), []);
  assert.deepEqual(spend(book, 0), []);
  assert.deepEqual(
    spend(book, 1).map(([id, share]) => [id, share]),
    [
      [ID, 0.0003],
      ["all: tokens per hour", 1],
    ],
  );
});
