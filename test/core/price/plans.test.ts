import assert from "node:assert/strict";
import { test } from "node:test";
import { summarise } from "../../../src/core/ledger/report.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { bookFor, budgetRequest, PRICES, standingIn } from "../../helpers/budget/budget-book.ts";
import { costOf, describeCost } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-21T11:30:00Z");
const SET = tokens({ input_uncached: 1_000, cache_read: 200, cache_write: 30, output: 4 });
const BY_PLAN = { upstream: "plan:claude", key: "plan:claude" } as const;

const record = (changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts: "2026-11-21T11:00:00.000Z", model: "plain", tokens: SET, ...changes });

test("what a plan paid is in no sum of money, and what it is worth is in a sum of its own", () => {
  const records = [record(), record(BY_PLAN), record(BY_PLAN)];
  const question = { by: ["upstream"] as const, calendar: UTC_CALENDAR, prices: PRICES, filter: {} };
  const { rows, total } = summarise(records, question);
  const write = ({ cost }: (typeof rows)[number]) => [
    formatMoney(cost.amount),
    cost.worth === null ? null : formatMoney(cost.worth.amount),
    cost.isExact,
  ];
  assert.deepEqual(
    rows.map((row) => [row.names[0], ...write(row)]),
    [
      ["default", "0.00112", null, true],
      ["plan:claude", "0", "0.00224", true],
    ],
  );
  assert.deepEqual(write(total), ["0.00112", "0.00224", true]);
});

test("a plan's model without a price, and usage that is not known, make its worth a lower bound and leave the cost exact", () => {
  const absent = { usage: "absent", tokens: null, outcome: "cut" } as const;
  for (const changes of [{ model: "nobody" }, absent]) {
    const question = { by: ["tool"] as const, calendar: UTC_CALENDAR, prices: PRICES, filter: {} };
    const { cost } = summarise([record(), record({ ...BY_PLAN, ...changes })], question).total;
    assert.deepEqual([cost.isExact, cost.worth?.isExact, cost.unknown, cost.unpriced], [true, false, 0, []]);
  }
});

test("one request that a plan paid is free", () => {
  assert.equal(describeCost(costOf(record(BY_PLAN), PRICES)), "0 free");
});

test("budgets in money neither count a plan's requests nor refuse them, budgets in tokens do both", () => {
  const request = budgetRequest({ ...BY_PLAN, model: null });
  for (const [limit, spent, isRefused] of [
    [{ usd: 0.001 }, 0n, false],
    [{ usd: 0 }, 0n, false],
    [{ tokens: 1_000 }, 1234n, true],
  ] as const) {
    const book = bookFor({ budgets: [{ per: "day", ...limit }] }, NOW);
    book.add(record(BY_PLAN));
    book.add(record({ ...BY_PLAN, model: null, model_requested: null }));
    const { reservation } = book.reserve(request, NOW);
    const standing = standingIn(book, NOW);
    assert.equal(standing.spent, "tokens" in limit ? spent * 2n : spent, JSON.stringify(limit));
    assert.equal("tokens" in limit || standing.reserved === 0n, true, JSON.stringify(limit));
    assert.equal(book.judge(request, NOW) !== null, isRefused, JSON.stringify(limit));
    assert.ok(reservation !== null);
  }
});
