import type { Refusal } from "./refusal.ts";
import type { Calendar } from "../ledger/calendar.ts";
import type { SpentBudget } from "../budget/book.ts";
import { describeTime } from "../budget/describe-time.ts";
import { describeBudget, formatAmount, type Budget } from "../budget/budget.ts";
import type { BudgetSettings } from "../budget/gauges.ts";

/** In seconds, for a budget that never opens: no tool waits for it. */
const A_DAY = 86_400;

/** Returns the words of a refusal, and the wait. `wall` is the wall time in ms since 1970. */
export function describeRefusal(
  refused: SpentBudget,
  wall: number,
  { calendar, isLocked }: Pick<BudgetSettings, "calendar" | "isLocked">,
): Omit<Refusal, "code"> {
  const { budget, tool, spent, asked, opensAt } = refused;
  if (asked !== null) return describeBatch(refused, asked, isLocked(budget));
  const opening = describeOpening(refused, wall, calendar);
  return {
    problem: spent < budget.amount ? "a budget is in use" : "a budget is spent",
    reason: [describeBudget(budget), ...describeSums(refused)].join("; "),
    waitSeconds: opensAt === null ? A_DAY : Math.max(0, (opensAt - wall) / 1_000),
    ...(isLocked(budget)
      ? { advice: `it ${opening}; an administrator has locked it`, command: "tollkeeper budget" }
      : { advice: `it ${opening}`, command: `tollkeeper budget lift ${tool} --for 1h` }),
  };
}

/** A batch for which there is no room, although single requests may go. */
function describeBatch(refused: SpentBudget, asked: bigint, isLocked: boolean): Omit<Refusal, "code"> {
  const { budget, tool } = refused;
  const cost = `the batch may spend ${formatAmount(budget, asked)}`;
  return {
    problem: "a budget has no room for the batch",
    reason: [describeBudget(budget), ...describeSums(refused), cost].join("; "),
    advice: isLocked ? "split it; an administrator has locked the budget" : "split it, or lift the budget",
    command: isLocked ? "tollkeeper budget" : `tollkeeper budget lift ${tool} --for 1h`,
  };
}

function describeSums({ budget, spent, assumed, reserved, running }: SpentBudget): string[] {
  const sums = [`${formatAmount(budget, spent)} spent`];
  if (assumed > 0n) sums.push(`${formatAmount(budget, assumed)} of it assumed ${describeRule(budget)}`);
  if (reserved > 0n) sums.push(`${formatAmount(budget, reserved)} reserved for ${countRequests(running)}`);
  return sums;
}

/** The rule by which amounts are assumed (docs/budgets.md). */
function describeRule({ limit }: Budget): string {
  const bySize = "by size where usage is unknown";
  return "usd" in limit
    ? `at the highest prices of similar models where a model has none, ${bySize}`
    : bySize;
}

function countRequests(count: number): string {
  return count === 1 ? "a running request" : `${count} running requests`;
}

function describeOpening({ budget, spent, opensAt }: SpentBudget, wall: number, calendar: Calendar): string {
  if (spent < budget.amount) return "opens again as running requests end";
  if (opensAt === null) return "never opens";
  if (opensAt <= wall)
    return "opens again within a minute, once tollkeeper trusts the clock, which jumped ahead";
  return `opens again ${describeTime(opensAt, wall, calendar)}`;
}
