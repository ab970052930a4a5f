import type { BudgetStatus, LiftStatus } from "../../core/budget/budget-status.ts";
import { describeBudget, formatAmount, type Budget } from "../../core/budget/budget.ts";
import { describeTime } from "../../core/budget/describe-time.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { parseMoney } from "../../core/price/money.ts";

const BAR_CELLS = 20;

/** Names a budget: `$20.00 per day for tool codex`. */
export function nameBudget(status: BudgetStatus): string {
  return describeBudget(toBudget(status));
}

/** Formats where a budget stands, as lines: its name, a bar with what is spent and left, and its window. `now` in ms since 1970. */
export function formatBudget(status: BudgetStatus, now: number): string[] {
  const percent = `${status.percent}%`.padStart(4);
  return [
    `${nameBudget(status)}${status.action === "warn" ? " (only warns)" : ""}${status.isLocked ? " (locked)" : ""}`,
    `  ${formatBar(status.percent)} ${percent}  ${describeSums(status).join(", ")}`,
    `  ${describeWindow(status, now).join("; ")}`,
    ...describeAssumed(status),
  ];
}

/** As many as a screen has room for. */
const MOST_MODELS = 3;

/** Says for which models prices are assumed, and what to type to end that. */
function describeAssumed(status: BudgetStatus): string[] {
  const budget = toBudget(status);
  return status.assumedFor.slice(0, MOST_MODELS).flatMap(({ model, amount }) => {
    const dollars = formatAmount(budget, parseAmount(status, amount));
    return [
      `  ${dollars} is assumed for ${sanitizeText(model)}, which has no price; to see how, and to set one, type:`,
      `    ${formatCommand(["tollkeeper", "prices", model])}`,
    ];
  });
}

/** Says for whom budgets are lifted, and until when. `now` in ms since 1970. */
export function formatLift({ tool, until }: LiftStatus, now: number): string {
  const end = describeTime(Date.parse(until), now, localCalendar());
  const moment = end.replace(/^(?:at|on) /, "").replace(" at ", ", ");
  return `Budgets for ${tool ?? "all tools"} are lifted until ${moment}.`;
}

function formatBar(percent: number): string {
  const full = Math.min(BAR_CELLS, Math.floor((percent * BAR_CELLS) / 100));
  return "█".repeat(full) + "░".repeat(BAR_CELLS - full);
}

function describeSums(status: BudgetStatus): string[] {
  const budget = toBudget(status);
  const [spent, assumed, reserved] = [status.spent, status.assumed, status.reserved].map((text) =>
    parseAmount(status, text),
  ) as [bigint, bigint, bigint];
  const left = budget.amount - spent;
  const sums = [`${formatAmount(budget, spent)} spent`];
  if (assumed > 0n) sums.push(`${formatAmount(budget, assumed)} of it assumed`);
  sums.push(
    left >= 0n ? `${formatAmount(budget, left)} left` : `${formatAmount(budget, -left)} over the limit`,
  );
  if (reserved > 0n) sums.push(`${formatAmount(budget, reserved)} reserved for running requests`);
  return sums;
}

function describeWindow(status: BudgetStatus, now: number): string[] {
  const budget = toBudget(status);
  const time = (text: string) => describeTime(Date.parse(text), now, localCalendar());
  const parts = [`about ${formatAmount(budget, parseAmount(status, status.perHour))} an hour`];
  if (status.spentAt !== null) parts.push(`at this rate spent ${time(status.spentAt)}`);
  if (status.opensAt !== null) parts.push(`opens again ${time(status.opensAt)}`);
  else if (!("rolling" in status.window)) parts.push(`begins again ${time(status.until)}`);
  if (!status.isWhole) parts.push("the ledger is still being counted, so more may be spent");
  return parts;
}

function toBudget(status: BudgetStatus): Budget {
  return { ...status, amount: parseAmount(status, status.amount) };
}

function parseAmount({ limit }: BudgetStatus, text: string): bigint {
  return "usd" in limit ? (parseMoney(text) ?? 0n) : BigInt(text);
}
