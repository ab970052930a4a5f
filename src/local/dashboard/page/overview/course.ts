import type { Status } from "../feed-types.ts";
import { formatDollars, withDecimals } from "../numbers.ts";
import type { Forecast } from "./forecast.ts";

/** Dollars that the budgets of all tools for the month assume for models without a price. */
export function assumedIn({ budgets }: Pick<Status, "budgets">): number {
  const own = budgets.filter(
    ({ scope, window, limit }) =>
      scope.kind === "all" && "per" in window && window.per === "month" && "usd" in limit,
  );
  return Math.max(0, ...own.map(({ assumed }) => Number(assumed)));
}

/**
 * Says what the month will have cost, by what is known, and then with what a budget assumes until now for models without a price; empty where
 * it is not known.
 */
export function describeCourse({ month, monthAtEnd }: Forecast, assumed: number): string[] {
  if (monthAtEnd === null) return [];
  if (month.isExact) return [`on course for about ${inWhole(monthAtEnd)}`];
  const course = `on course for ${inWhole(monthAtEnd)} or more`;
  const withAssumed = inWhole(monthAtEnd + assumed);
  return withAssumed === inWhole(monthAtEnd) ? [course] : [course, `${withAssumed} with assumed prices`];
}

/** A forecast is no sum: cents would promise too much. */
function inWhole(usd: number): string {
  return usd < 1 ? formatDollars(usd) : withDecimals(0).format(usd);
}
