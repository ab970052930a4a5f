import assert from "node:assert/strict";
import { test } from "node:test";
import { renderBudgetReport } from "./budgets/render-report.ts";
import { runBudgets } from "./budgets/run-budgets.ts";

test("whatever clients, a service and kills do, no more is billed than a budget says that it may", async () => {
  const shown: string[] = [];
  // A kill may come before a budget is spent.
  for (const seed of ["npm test", "once more", "and again"]) {
    const report = await runBudgets({ rounds: 4, seed });
    shown.push(...renderBudgetReport(report));
    assert.deepEqual(report.faults, [], shown.join("\n"));
    if (report.answers.passed > 0 && report.answers.refused > 0) return;
  }
  assert.fail(shown.join("\n"));
});
