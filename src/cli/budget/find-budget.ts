import type { BudgetStatus } from "../../core/budget/budget-status.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { toPrintable } from "../../core/text/printable.ts";

/**
 * Finds the budget that a person means: by its id; by whom it is for, if that has only one; or without a name if there is only one.
 * @throws Failure when it is none, or one of several
 */
export function findBudget(budgets: readonly BudgetStatus[], name: string | undefined): BudgetStatus {
  if (budgets.length === 0)
    throw new Failure(
      "there is no budget",
      "to set one, type: tollkeeper budget set codex --usd 20 --per day",
    );
  const exact = budgets.find(({ id }) => id === name);
  if (exact !== undefined) return exact;
  const meant = budgets.filter(
    ({ scope }) => name === undefined || name === (scope.kind === "all" ? "all" : scope.name),
  );
  const [only, ...others] = meant;
  if (only !== undefined && others.length === 0) return only;
  const candidates = meant.length > 0 ? meant : budgets;
  const commands = candidates.map(({ id }) => formatCommand(["tollkeeper", "budget", "reset", id]));
  const which = meant.length > 1 ? "stands for several budgets" : "is not the name of a budget";
  const problem = name === undefined ? "name the budget" : `"${toPrintable(name)}" ${which}`;
  throw new Failure(problem, commands.join("; or: "));
}
