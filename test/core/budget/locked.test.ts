import assert from "node:assert/strict";
import { test } from "node:test";
import { BudgetBook } from "../../../src/core/budget/book.ts";
import { isLockedBudget, type Budget } from "../../../src/core/budget/budget.ts";
import { NO_STATE } from "../../../src/core/budget/state.ts";
import { parseConfigPath } from "../../../src/core/config/config-path.ts";
import { budgetRequest, budgetsFrom, settingsFor } from "../../helpers/budget/budget-book.ts";

const NONE = { tokens: 0, per: "day" };

const BUDGETS = budgetsFrom({
  budgets: [NONE],
  tools: { codex: { budgets: [NONE] }, zed: { budgets: [NONE], group: "small" } },
  groups: { small: { models: ["m*"], budgets: [NONE] } },
  keys: { work: { budgets: [NONE] } },
  projects: { "/home/ada/shop": { budgets: [NONE] } },
});

for (const [lock, ids] of [
  ["budgets", ["all: tokens per day"]],
  ["tools", ["tool codex: tokens per day", "tool zed: tokens per day"]],
  ["tools.codex", ["tool codex: tokens per day"]],
  ["tools.codex.budgets", ["tool codex: tokens per day"]],
  ["tools.*.budgets", ["tool codex: tokens per day", "tool zed: tokens per day"]],
  ["groups", ["group small: tokens per day"]],
  ["keys.work", ["key work: tokens per day"]],
  ["projects", ["project /home/ada/shop: tokens per day"]],
  ["tools.codex.group", []],
  ["prices", []],
] as const) {
  test(`a lock of ${lock} locks ${ids.length === 0 ? "no budget" : ids.join(" and ")}`, () => {
    const path = parseConfigPath(lock) ?? assert.fail("it is a path");
    const locked = BUDGETS.filter((budget) => isLockedBudget(budget, [path]));
    assert.deepEqual(
      locked.map(({ id }) => id),
      ids,
    );
  });
}

test("a lift does not concern a budget that is locked, also when the lock comes later and goes again", () => {
  const locked = new Set<string>();
  const isLocked = ({ id }: Budget) => locked.has(id);
  const settings = settingsFor({ budgets: [NONE], tools: { codex: { budgets: [NONE] } } }, { isLocked });
  const now = Date.parse("2026-11-23T12:00:00Z");
  const book = new BudgetBook(settings, NO_STATE, now);
  const request = budgetRequest({ tool: "codex" });
  const refusedBy = () => {
    return book.judge(request, now)?.budget.id ?? null;
  };
  assert.equal(refusedBy(), "tool codex: tokens per day");
  book.lift(null, now, now + 60_000);
  assert.equal(refusedBy(), null);
  locked.add("all: tokens per day");
  assert.equal(refusedBy(), "all: tokens per day");
  locked.clear();
  assert.equal(refusedBy(), null);
});
