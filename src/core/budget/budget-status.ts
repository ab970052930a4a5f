import { formatMoney } from "../price/money.ts";
import type { BudgetTerms, Scope } from "./kinds.ts";
import type { BudgetStanding } from "./standing.ts";
import type { Lift } from "./state.ts";

/** Where a budget stands, as data that JSON can represent: a {@link BudgetStanding} whose amounts are decimal texts, and whose times are ISO 8601. */
export interface BudgetStatus extends Pick<
  BudgetTerms,
  "limit" | "window" | "action" | "warn" | "unpriced" | "notify"
> {
  /** Names the budget in `tollkeeper budget reset`. */
  id: string;
  scope: Scope;
  /** Dollars or tokens, as is the limit. */
  amount: string;
  spent: string;
  assumed: string;
  /** The models without a price, and how much of `assumed` is theirs, the most first. */
  assumedFor: readonly { model: string; amount: string }[];
  reserved: string;
  percent: number;
  since: string;
  until: string;
  opensAt: string | null;
  perHour: string;
  spentAt: string | null;
  isWhole: boolean;
  /** True if the managed configuration file locks it, so that it can be neither lifted nor reset. */
  isLocked: boolean;
}

/** A tool whose requests no budget refuses until then; null for all tools. */
export interface LiftStatus {
  tool: string | null;
  until: string;
}

/** What of budgets a daemon knows. */
export interface BudgetsStatus {
  budgets: readonly BudgetStatus[];
  lifts: readonly LiftStatus[];
}

export const NO_BUDGETS: BudgetsStatus = { budgets: [], lifts: [] };

export function describeStanding({ budget, ...standing }: BudgetStanding, isLocked: boolean): BudgetStatus {
  const { id, scope, limit, window, action, warn, unpriced, notify } = budget;
  const format = (amount: bigint) => ("usd" in limit ? formatMoney(amount) : amount.toString());
  return {
    id,
    scope,
    limit,
    window,
    action,
    warn,
    unpriced,
    notify,
    amount: format(budget.amount),
    spent: format(standing.spent),
    assumed: format(standing.assumed),
    assumedFor: standing.assumedFor.map(([model, amount]) => ({ model, amount: format(amount) })),
    reserved: format(standing.reserved),
    percent: standing.percent,
    since: toText(standing.since),
    until: toText(standing.until),
    opensAt: standing.opensAt === null ? null : toText(standing.opensAt),
    perHour: format(standing.perHour),
    spentAt: standing.spentAt === null ? null : toText(standing.spentAt),
    isWhole: standing.isWhole,
    isLocked,
  };
}

export function describeLift({ tool, until }: Lift): LiftStatus {
  return { tool, until: toText(until) };
}

function toText(time: number): string {
  return new Date(time).toISOString();
}
