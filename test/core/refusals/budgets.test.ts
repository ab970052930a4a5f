import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpentBudget } from "../../../src/core/budget/book.ts";
import { describeRefusal } from "../../../src/core/refusals/budgets.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { budgetsFrom } from "../../helpers/budget/budget-book.ts";

/** In Berlin it is an hour later, and a Saturday. */
const NOW = Date.parse("2026-11-21T11:30:00Z");
const CENT = 10n ** 28n;

const [ofCodex, ofAll] = budgetsFrom({
  tools: { codex: { budgets: [{ usd: 20, per: "day" }] } },
  budgets: [{ tokens: 1_500_000, class: "output", rolling: 5 }],
});
assert.ok(ofCodex !== undefined && ofAll !== undefined);

const USD: SpentBudget = {
  budget: ofCodex,
  tool: "codex",
  spent: 2_014n * CENT,
  assumed: 0n,
  reserved: 0n,
  running: 0,
  asked: null,
  opensAt: Date.parse("2026-11-21T23:00:00Z"),
};
const TOKENS: SpentBudget = {
  ...USD,
  budget: ofAll,
  spent: 1_400_000n,
  reserved: 200_000n,
  running: 3,
  asked: null,
  opensAt: NOW,
};

const CASES: [what: string, refused: SpentBudget, problem: string, reason: string, advice: string][] = [
  [
    "a spent budget",
    USD,
    "a budget is spent",
    "$20.00 per day for tool codex; $20.14 spent",
    "it opens again tomorrow at 00:00",
  ],
  [
    "one that opens today",
    { ...USD, opensAt: NOW + 3_600_000 },
    "a budget is spent",
    "$20.00 per day for tool codex; $20.14 spent",
    "it opens again at 13:30",
  ],
  [
    "one that opens later",
    { ...USD, opensAt: Date.parse("2026-11-30T23:00:00Z") },
    "a budget is spent",
    "$20.00 per day for tool codex; $20.14 spent",
    "it opens again on Tuesday 2026-12-01 at 00:00",
  ],
  [
    "one that never opens",
    { ...USD, opensAt: null },
    "a budget is spent",
    "$20.00 per day for tool codex; $20.14 spent",
    "it never opens",
  ],
  [
    "a clock that leapt ahead",
    { ...USD, opensAt: NOW - 1 },
    "a budget is spent",
    "$20.00 per day for tool codex; $20.14 spent",
    "it opens again within a minute, once tollkeeper trusts the clock, which jumped ahead",
  ],
  [
    "amounts that are assumed",
    { ...USD, assumed: 250n * CENT },
    "a budget is spent",
    "$20.00 per day for tool codex; $20.14 spent; $2.50 of it assumed at the highest prices of similar models where a model has none, by size where usage is unknown",
    "it opens again tomorrow at 00:00",
  ],
  [
    "a budget that is reserved",
    TOKENS,
    "a budget is in use",
    "1,500,000 output tokens in 5 hours for all tools together; 1,400,000 output tokens spent; 200,000 output tokens reserved for 3 running requests",
    "it opens again as running requests end",
  ],
];

for (const [what, refused, problem, reason, advice] of CASES)
  test(`the refusal of ${what}`, () => {
    const command = "tollkeeper budget lift codex --for 1h";
    const settings = { calendar: zonedCalendar("Europe/Berlin"), isLocked: () => false };
    const { waitSeconds, ...words } = describeRefusal(refused, NOW, settings);
    assert.deepEqual(words, { problem, reason, advice, command });
    const { opensAt } = refused;
    assert.equal(waitSeconds, opensAt === null ? 86_400 : Math.max(0, (opensAt - NOW) / 1_000));
  });

test("the refusal of a locked budget says who has locked it, and does not say how to lift it", () => {
  const settings = { calendar: zonedCalendar("Europe/Berlin"), isLocked: () => true };
  const { advice, command } = describeRefusal(USD, NOW, settings);
  assert.match(advice ?? "", /^it opens again .*; an administrator has locked it$/);
  assert.equal(command, "tollkeeper budget");
});
