import assert from "node:assert/strict";
import { test } from "node:test";
import { renderBudgetReport } from "./budgets/render-report.ts";
import { runBudgets } from "./budgets/run-budgets.ts";

test("whatever clients, a service and kills do, no more is billed than a budget says that it may", async () => {
  const report = await runBudgets({ rounds: 4, seed: "npm test" });
  assert.deepEqual(report.faults, [], renderBudgetReport(report).join("\n"));
  assert.ok(report.answers.passed > 0 && report.answers.refused > 0, renderBudgetReport(report).join("\n"));
});
