import type { ConfigPath } from "../config/config-path.ts";
import type { Config } from "../config/config.ts";
import { isLocked } from "../config/managed.ts";
import { decimalOf, formatDollars, toMoney, type Money } from "../price/money.ts";
import { groupDigits } from "../text/group-digits.ts";
import type { BudgetTerms, Scope, ScopeKind } from "./kinds.ts";

/** A budget of the configuration. */
export interface Budget extends BudgetTerms {
  /** Says whom it is for and what it counts, such as `tool codex: usd per day`. What is counted stays with it when limits change. */
  id: string;
  scope: Scope;
  /** {@link Money}, or tokens. */
  amount: bigint;
}

/** What of a configuration has budgets. */
type BudgetConfig = Pick<Config, "tools" | "groups" | "projects" | "keys" | "budgets">;

/** True for a budget that the managed configuration file locks, so that no user may lift or reset it. */
export function isLockedBudget({ scope }: Budget, locked: readonly ConfigPath[]): boolean {
  return isLocked(scope.kind === "all" ? ["budgets"] : [`${scope.kind}s`, scope.name, "budgets"], locked);
}

/** Returns all budgets, in the order in which they refuse: those of tools, groups, projects, keys, and then those for all. */
export function budgetsOf({ tools, groups, projects, keys, budgets }: BudgetConfig): Budget[] {
  const sections = { tool: tools, group: groups, project: projects, key: keys };
  const named = Object.entries(sections).flatMap(([kind, entries]) =>
    Object.entries(entries).flatMap(([name, entry]) =>
      entry.budgets.map((terms) => budgetOf({ kind: kind as ScopeKind, name }, terms)),
    ),
  );
  return [...named, ...budgets.map((terms) => budgetOf({ kind: "all" }, terms))];
}

function budgetOf(scope: Scope, terms: BudgetTerms): Budget {
  const { limit } = terms;
  const amount = "usd" in limit ? toMoney(decimalOf(limit.usd)) : BigInt(limit.tokens);
  return {
    ...terms,
    id: `${describeScope(scope)}: ${describeUnit(terms)} ${describeWindow(terms)}`,
    scope,
    amount,
  };
}

/** Says whom a budget is for: `tool codex`, `all`. */
function describeScope(scope: Scope): string {
  return scope.kind === "all" ? "all" : `${scope.kind} ${scope.name}`;
}

function describeUnit({ limit }: BudgetTerms): string {
  if ("usd" in limit) return "usd";
  return limit.class === null ? "tokens" : `${limit.class} tokens`;
}

/** Says what window a budget has: `per day`, `in 5 hours`. */
function describeWindow({ window }: BudgetTerms): string {
  if ("per" in window) return `per ${window.per}`;
  return window.rolling === 1 ? "in 1 hour" : `in ${window.rolling} hours`;
}

/** Writes an amount of a budget for people: `$12.50`, `1,200,000 tokens`, `5,000 output tokens`. */
export function formatAmount(budget: BudgetTerms, amount: Money): string {
  if ("usd" in budget.limit) return formatDollars(amount);
  return `${groupDigits(amount.toString())} ${describeUnit(budget)}`;
}

/** Names a budget for people: `$20.00 per day for tool codex`. */
export function describeBudget(budget: Budget): string {
  return `${formatAmount(budget, budget.amount)} ${describeWindow(budget)} for ${describeWhom(budget.scope)}`;
}

/** Says for people whom a budget is for: `tool codex`, `all tools together`. */
export function describeWhom(scope: Scope): string {
  return scope.kind === "all" ? "all tools together" : describeScope(scope);
}
