import { BUDGET_CLASSES, BUDGET_PERIODS, MAX_ROLLING_HOURS, type BudgetTerms } from "../budget/kinds.ts";
import { amount, choice, flag, integer, list, object } from "./shape.ts";

/** Dollars. More than anyone spends on tools, and few enough digits to be a number exactly. */
const MAX_USD = 1_000_000_000;
const USD_PLACES = 6;
const SHARE_PLACES = 4;

const share = amount(1, SHARE_PLACES).resolve((value) =>
  value === 0 ? { problem: "must be more than 0, such as 0.8 for 80%" } : value,
);

const budget = object({
  usd: amount(MAX_USD, USD_PLACES).optional().describe("The limit in US dollars, e.g. 20 or 0.5."),
  tokens: integer(0).optional().describe("The limit in tokens, in place of dollars."),
  class: choice(...BUDGET_CLASSES)
    .optional()
    .describe("The tokens that count: those of one class, as prices have them. Default: all tokens."),
  per: choice(...BUDGET_PERIODS)
    .optional()
    .describe("The window, in local time: it opens again with the next hour, day, week (Monday) or month."),
  rolling: integer(1, MAX_ROLLING_HOURS)
    .optional()
    .describe("The window in place of `per`: the last so many hours."),
  action: choice("refuse", "warn")
    .default("refuse")
    .describe("Whether requests are refused once the budget is spent, or only warned about."),
  warn: list(share)
    .default([0.8, 1])
    .describe("The shares of the limit at which to warn, e.g. [0.5, 0.9]; each once in a window."),
  unpriced: choice("dearest", "allow")
    .default("dearest")
    .describe(
      "How requests count whose cost is unknown: at the highest prices of their upstream, or not at all.",
    ),
  notify: flag().default(false).describe("Whether a warning is also a notification on the desktop."),
}).resolve(
  ({ usd, tokens, class: tokenClass, per, rolling, warn, ...rest }): BudgetTerms | { problem: string } => {
    if ((usd === undefined) === (tokens === undefined))
      return { problem: 'must have exactly one of "usd" and "tokens"' };
    if ((per === undefined) === (rolling === undefined))
      return { problem: 'must have exactly one of "per" and "rolling"' };
    if (tokenClass !== undefined && tokens === undefined)
      return { problem: 'has a "class", which only a limit in "tokens" can have; remove it' };
    return {
      ...rest,
      limit: usd === undefined ? { tokens: tokens ?? 0, class: tokenClass ?? null } : { usd },
      window: per === undefined ? { rolling: rolling ?? 1 } : { per },
      // Sorted, so that warnings come in the order of the shares.
      warn: [...new Set(warn)].toSorted((a, b) => a - b),
    };
  },
);

/** The budgets of a tool, of a group, of a project, of a key, or of all requests together. */
export const budgets = list(budget)
  .resolve((entries) => {
    const counted = entries.map(({ limit, window }) =>
      JSON.stringify(["usd" in limit ? "usd" : limit.class, window]),
    );
    return new Set(counted).size < counted.length
      ? {
          problem:
            'has two budgets that count alike; keep one, and let "warn" name the lower limit as a share',
        }
      : entries;
  })
  .default([]);

/** What may be set for a project or a key. */
export const budgeted = object({
  budgets: budgets.describe("What may be spent. None by default."),
});
