import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { summarise } from "../../../src/core/ledger/report.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { bookFor, budgetRequest, PRICES, standingIn } from "../../helpers/budget/budget-book.ts";
import { costOf, describeCost } from "../../helpers/ledger/prices.ts";
import { tokens, usageRecord } from "../../helpers/ledger/usage-record.ts";

const NOW = Date.parse("2026-11-21T11:30:00Z");
const SET = tokens({ input_uncached: 1_000, cache_read: 200, cache_write: 30, output: 4 });
const BY_OWN_KEY = { upstream: "own:default", key: "own:default/3f2a91c0" } as const;
const BY_PLAN = { upstream: "plan:claude", key: "plan:claude" } as const;

const record = (changes: Partial<UsageRecord> = {}) =>
  usageRecord({ ts: "2026-11-21T11:00:00.000Z", model: "plain", tokens: SET, ...changes });

test("what tools' own keys paid is in no cost and in no worth of a plan, but in a sum of its own", () => {
  const records = [record(), record(BY_OWN_KEY), record(BY_OWN_KEY), record(BY_PLAN)];
  const question = { by: ["account"] as const, calendar: UTC_CALENDAR, prices: PRICES, filter: {} };
  const { rows, total } = summarise(records, question);
  const write = ({ cost, sums }: (typeof rows)[number]) => [
    formatMoney(cost.amount),
    ...[cost.worth, cost.ownWorth].map((worth) => (worth === null ? null : formatMoney(worth.amount))),
    sums.requests,
    sums.plan_requests,
    sums.own_requests,
  ];
  assert.deepEqual(
    rows.map((row) => [row.names[0], ...write(row)]),
    [
      ["key", "0.00112", null, null, 1, 0, 0],
      ["own:default/3f2a91c0", "0", null, "0.00224", 2, 0, 2],
      ["plan:claude", "0", "0.00112", null, 1, 1, 0],
    ].map((row) => (row[0] === "plan:claude" ? ["plan", ...row.slice(1)] : row)),
  );
  assert.deepEqual(write(total), ["0.00112", "0.00112", "0.00224", 4, 1, 2]);
});

test("one request that a tool's own key paid costs nothing here", () => {
  assert.equal(describeCost(costOf(record(BY_OWN_KEY), PRICES)), "0 free");
});

test("budgets in money neither count nor refuse what a tool's own key pays, budgets in tokens do both", () => {
  const request = budgetRequest({ ...BY_OWN_KEY, model: null });
  for (const [limit, isRefused] of [
    [{ usd: 0.001 }, false],
    [{ tokens: 1_000 }, true],
  ] as const) {
    const book = bookFor({ budgets: [{ per: "day", ...limit }] }, NOW);
    book.add(record(BY_OWN_KEY));
    assert.equal(standingIn(book, NOW).spent, "tokens" in limit ? 1234n : 0n, JSON.stringify(limit));
    assert.equal(book.judge(request, NOW) !== null, isRefused, JSON.stringify(limit));
  }
});
