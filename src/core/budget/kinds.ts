/** The classes of tokens that a budget may count, by their names in prices. */
export const BUDGET_CLASSES = ["input", "cacheRead", "cacheWrite", "output"] as const;
export type BudgetClass = (typeof BUDGET_CLASSES)[number];

/** The windows of the calendar. */
export const BUDGET_PERIODS = ["hour", "day", "week", "month"] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** A year. The memory of a rolling window grows with its length. */
export const MAX_ROLLING_HOURS = 8_784;

/** Whom a budget is for: everybody together, or those with this tool, group, project or key. */
export type Scope = { kind: "all" } | { kind: ScopeKind; name: string };
export type ScopeKind = "tool" | "group" | "project" | "key";

/** A budget as it is configured, whomever it is for. */
export interface BudgetTerms {
  /** Dollars as the number whose shortest text says them; or tokens, of one class or all. */
  limit: { usd: number } | { tokens: number; class: BudgetClass | null };
  /** A window of the calendar, or of so many hours until now. */
  window: { per: BudgetPeriod } | { rolling: number };
  action: "refuse" | "warn";
  /** The shares of the limit at which to warn, the lowest first. */
  warn: readonly number[];
  /** How requests count whose cost is unknown. */
  unpriced: "dearest" | "allow";
  /** Whether a warning is also a notification on the desktop. */
  notify: boolean;
}
