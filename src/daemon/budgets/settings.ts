import { homedir } from "node:os";
import { loadPriceBook } from "../../adapters/price-table.ts";
import { budgetsOf, isLockedBudget } from "../../core/budget/budget.ts";
import type { BudgetSettings } from "../../core/budget/gauges.ts";
import { parseConfigPath, type ConfigPath } from "../../core/config/config-path.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { groupOfTool } from "../../core/policy/tool-access.ts";
import type { Config, PriceSettings } from "../../core/config/config.ts";
import type { ConfigStatus } from "../../ports.ts";

/** What of a configuration decides what budgets count, and how. */
export type BudgetConfig = Pick<Config, "tools" | "otherTools" | "groups" | "projects" | "keys" | "budgets"> &
  PriceSettings;

/**
 * Prepares the budgets of a configuration. Loads prices only where a budget is in dollars.
 * @param managed returns the managed configuration file in force. It is asked each time, because a lock may come and go without a change
 *   to the configuration in force
 */
export async function budgetSettings(
  config: BudgetConfig,
  managed: () => ConfigStatus["managed"],
): Promise<BudgetSettings> {
  const budgets = budgetsOf(config);
  const isMoney = budgets.some(({ limit }) => "usd" in limit);
  return {
    budgets,
    calendar: localCalendar(),
    prices: isMoney ? await loadPriceBook(config) : null,
    groupOf: (tool) => groupOfTool(config, tool)?.name ?? null,
    isLocked: (budget) => isLockedBudget(budget, managed()?.locked.flatMap(parseLock) ?? []),
  };
}

/** Returns the path of a lock, with a project's directory in full, as budgets have it. */
function parseLock(name: string): ConfigPath[] {
  const path = parseConfigPath(name);
  if (path === null) return [];
  const [section, project] = path;
  if (section !== "projects" || typeof project !== "string") return [path];
  return [path.with(1, project.replace(/^~(?=\/)/, homedir()).replace(/(?<=.)\/+$/, ""))];
}
