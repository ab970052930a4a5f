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

const EXTRA = { upstream: "extra:claude", key: "extra:claude/3f2a91c0" } as const;

test("what a service charges beyond a plan costs what it costs with a key, is marked as a part of the cost, and is no worth", () => {
  const question = { by: ["tool"] as const, calendar: UTC_CALENDAR, prices: PRICES, filter: {} };
  const { cost } = summarise([record(), record(BY_PLAN), record(EXTRA)], question).total;
  assert.deepEqual([cost.amount, cost.extra, cost.worth?.amount ?? 0n].map(formatMoney), [
    "0.00224",
    "0.00112",
    "0.00112",
  ]);
  assert.equal(describeCost(costOf(record(EXTRA), PRICES)), describeCost(costOf(record(), PRICES)));
});

test("budgets in money count what is charged beyond a plan, also where it was reserved as the plan's, and refuse what is expected to be", () => {
  const [byPlan, extra] = [BY_PLAN, EXTRA].map((one) => budgetRequest({ ...one, model: "plain" }));
  assert.ok(byPlan && extra);
  const book = bookFor({ budgets: [{ per: "day", usd: 0.001 }] }, NOW);
  const { reservation } = book.reserve(byPlan, NOW);
  assert.equal(standingIn(book, NOW).reserved, 0n);
  book.settle(reservation, record(EXTRA), NOW);
  assert.ok(standingIn(book, NOW).spent > 0n);
  assert.deepEqual([book.judge(byPlan, NOW), book.judge(extra, NOW) !== null], [null, true]);
  const reserved = bookFor({ budgets: [{ per: "day", usd: 1 }] }, NOW);
  const ahead = reserved.reserve(extra, NOW).reservation;
  assert.ok(standingIn(reserved, NOW).reserved > 0n);
  reserved.settle(ahead, record(BY_PLAN), NOW);
  const { spent, reserved: left } = standingIn(reserved, NOW);
  assert.deepEqual([spent, left], [0n, 0n]);
});
