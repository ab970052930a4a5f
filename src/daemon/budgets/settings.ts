import { loadPriceTable } from "../../adapters/price-table.ts";
import { budgetsOf } from "../../core/budget/budget.ts";
import type { BudgetSettings } from "../../core/budget/meters.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { groupOfTool } from "../../core/policy/groups.ts";
import { PriceBook } from "../../core/price/price-book.ts";
import type { BudgetConfig } from "./count.ts";

/** Prepares the budgets of a configuration. Loads prices only where a budget is in dollars. */
export async function budgetSettings(config: BudgetConfig): Promise<BudgetSettings> {
  const budgets = budgetsOf(config);
  const isMoney = budgets.some(({ limit }) => "usd" in limit);
  return {
    budgets,
    calendar: localCalendar(),
    prices: isMoney ? new PriceBook(config, await loadPriceTable()) : null,
    groupOf: (tool) => groupOfTool(config, tool)?.name ?? null,
  };
}
