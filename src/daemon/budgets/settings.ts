import { loadPriceBook } from "../../adapters/price-table.ts";
import { budgetsOf } from "../../core/budget/budget.ts";
import type { BudgetSettings } from "../../core/budget/meters.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { groupOfTool } from "../../core/policy/groups.ts";
import type { BudgetConfig } from "./count.ts";

/** Prepares the budgets of a configuration. Loads prices only where a budget is in dollars. */
export async function budgetSettings(config: BudgetConfig): Promise<BudgetSettings> {
  const budgets = budgetsOf(config);
  const isMoney = budgets.some(({ limit }) => "usd" in limit);
  return {
    budgets,
    calendar: localCalendar(),
    prices: isMoney ? await loadPriceBook(config) : null,
    groupOf: (tool) => groupOfTool(config, tool)?.name ?? null,
  };
}
