import type { Calendar } from "../ledger/calendar.ts";
import type { SpentBudget } from "./book.ts";
import { describeBudget, formatAmount } from "./budget.ts";

/**
 * Says why a request is refused, in one line: which budget, what to type, when it opens again, and how much was spent. What to type comes
 * early, because tools cut long lines. `wall` is the wall time in milliseconds since 1970.
 */
export function describeRefusal(refused: SpentBudget, wall: number, calendar: Calendar): string {
  const { budget, tool, spent, reserved } = refused;
  const isReserved = spent < budget.amount;
  const title = `budget ${isReserved ? "reserved" : "spent"}: ${describeBudget(budget)}`;
  const sums = [`${formatAmount(budget, spent)} spent`];
  if (reserved > 0n)
    sums.push(`${formatAmount(budget, reserved)} reserved for ${countRequests(refused.running)}`);
  if (refused.assumed > 0n)
    sums.push(
      `${formatAmount(budget, refused.assumed)} of it assumed: ${"usd" in budget.limit ? "at the dearest prices of the upstream where a model has none, and " : ""}by size where usage is unknown`,
    );
  return `${title}; to go on, type: tollkeeper budget lift ${tool} --for 1h; ${describeOpening(refused, wall, calendar)} (${sums.join(", ")})`;
}

function countRequests(count: number): string {
  return count === 1 ? "a running request" : `${count} running requests`;
}

function describeOpening({ budget, spent, opensAt }: SpentBudget, wall: number, calendar: Calendar): string {
  if (spent < budget.amount) return "it opens again as running requests end";
  if (opensAt === null) return "it never opens";
  if (opensAt <= wall)
    return "it opens again within a minute, when the clock, which leapt ahead, is confirmed";
  return `it opens again ${describeTime(opensAt, wall, calendar)}`;
}

/** Writes a time as people say it: `at 15:00`, `tomorrow at 00:00`, `on Monday 2026-12-01 at 00:00`. */
function describeTime(time: number, wall: number, calendar: Calendar): string {
  const day = calendar.dayOf(time);
  const today = calendar.dayOf(wall);
  const zone = { timeZone: calendar.zone };
  const clock = new Intl.DateTimeFormat("en-GB", { ...zone, hour: "2-digit", minute: "2-digit" }).format(
    time,
  );
  if (day === today) return `at ${clock}`;
  if (calendar.startOf(day) === calendar.startOf(today, 1)) return `tomorrow at ${clock}`;
  const weekday = new Intl.DateTimeFormat("en-GB", { ...zone, weekday: "long" }).format(time);
  return `on ${weekday} ${day} at ${clock}`;
}
