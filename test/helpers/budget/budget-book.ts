import { checkConfig } from "../../../src/core/config/config.ts";
import { BudgetBook } from "../../../src/core/budget/book.ts";
import { budgetsOf, type Budget } from "../../../src/core/budget/budget.ts";
import type { BudgetSettings } from "../../../src/core/budget/gauges.ts";
import { standingsOf, type BudgetStanding } from "../../../src/core/budget/standing.ts";
import { NO_SIZE, type BudgetRequest } from "../../../src/core/budget/budget-request.ts";
import { NO_STATE, type BudgetState } from "../../../src/core/budget/state.ts";
import { zonedCalendar } from "../../../src/core/ledger/calendar.ts";
import { PriceBook } from "../../../src/core/price/price-book.ts";

/** Prices that are easy to add up: a million tokens of `plain` cost 1 and 10 dollars, of `dear` 5 and 50. */
const CONFIG = {
  upstreams: {
    default: { baseUrl: "https://api.example.com/v1" },
    local: { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" },
  },
  prices: {
    plain: { input: 1, cacheRead: 0.1, cacheWrite: 2, output: 10 },
    lasting: { input: 1, cacheRead: 0.1, cacheWrite: 1.25, cacheWrite1h: 2, output: 10 },
    dear: { input: 5, cacheRead: 0.5, cacheWrite: 10, output: 50 },
  },
};

/** Those prices and no others. */
export const PRICES = pricesOf(CONFIG);

export function pricesOf(file: object): PriceBook {
  return new PriceBook(configOf(file), { source: "none", asOf: "2026-11-23", sources: [], providers: [] });
}

function configOf(file: object) {
  const result = checkConfig(file, "/home/ada");
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.config;
}

/** Returns the budgets of the sections of a configuration: `tools`, `groups`, `keys`, `projects`, `budgets`. */
export function budgetsFrom(sections: Record<string, unknown>): Budget[] {
  return budgetsOf(configOf({ ledger: { project: true }, ...sections }));
}

/** Settings for budgets, of Berlin and {@link PRICES} unless said otherwise. */
export function settingsFor(
  sections: Record<string, unknown>,
  more: Partial<BudgetSettings> = {},
): BudgetSettings {
  return {
    budgets: budgetsFrom(sections),
    calendar: zonedCalendar("Europe/Berlin"),
    prices: PRICES,
    groupOf: () => null,
    isLocked: () => false,
    ...more,
  };
}

/** A book of budgets for all. */
export function bookFor(
  sections: Record<string, unknown>,
  now: number,
  state: BudgetState = NO_STATE,
): BudgetBook {
  return new BudgetBook(settingsFor(sections), state, now);
}

/** A request of codex with 1,000 tokens of input, and at most 100 tokens of output. */
export function budgetRequest(changes: Partial<BudgetRequest> = {}): BudgetRequest {
  return {
    tool: "codex",
    project: null,
    key: "default",
    upstream: "default",
    model: "plain",
    ...NO_SIZE,
    input: 1_000,
    output: 100,
    cachesLong: false,
    ...changes,
  };
}

/** Where the first budget of a book stands, as people see it. */
export function standingIn(book: BudgetBook, now: number): BudgetStanding {
  const [standing] = standingsOf(book, now);
  if (standing === undefined) throw new Error("the book has no budget");
  return standing;
}

/** What each budget of a book has spent, and what of it is assumed. */
export function spentIn(book: BudgetBook, now: number): [spent: bigint, assumed: bigint][] {
  return standingsOf(book, now).map(({ spent, assumed }) => [spent, assumed]);
}
