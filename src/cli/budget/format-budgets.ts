import type { BudgetStatus, LiftStatus } from "../../core/budget/budget-status.ts";
import { describeBudget, describeWhom, formatAmount, type Budget } from "../../core/budget/budget.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { formatDollars, parseMoney } from "../../core/price/money.ts";
import { formatNumber } from "../terminal/format.ts";
import type { FactRow } from "../terminal/facts.ts";
import { drawPercent } from "../terminal/percent-bar.ts";
import { shortTime, timeInTable } from "../terminal/short-time.ts";
import type { Tone } from "../terminal/styles.ts";
import { layOutTable, type Cell, type Column, type TableView } from "../terminal/table.ts";

/** Names a budget: `$20.00 per day for tool codex`. */
export function nameBudget(status: BudgetStatus): string {
  return describeBudget(toBudget(status));
}

/** Says what is left of a budget: `$12.00 left of $20.00 per day for tool codex`. */
export function describeLeft(status: BudgetStatus): string {
  const budget = toBudget(status);
  const left = budget.amount - parseAmount(status, status.spent);
  const [amount, word] = left >= 0n ? [left, "left of"] : [-left, "over"];
  return `${formatAmount(budget, amount)} ${word} ${toPrintable(describeBudget(budget))}`;
}

const ASSUMED = "assumed";

const COLUMNS: readonly Column[] = [
  { head: "budget for", align: "left", long: "path" },
  { head: "limit", align: "left", long: "whole" },
  { head: "when spent", align: "left", long: "whole", order: 8 },
  { head: "", align: "left", order: 2 },
  { head: "spent", align: "left", long: "whole" },
  { head: "amount", align: "right", order: 4 },
  { head: "left", align: "right", order: 1 },
  { head: ASSUMED, align: "right", order: 5 },
  { head: "reserved", align: "right", order: 6 },
  { head: "per hour", align: "right", order: 7 },
  { head: "then", align: "left", long: "whole", order: 3 },
];

/** Formats where budgets stand, as a table. `now` in ms since 1970. */
export function formatBudgets(budgets: readonly BudgetStatus[], now: number, view: TableView): string {
  const rows = budgets.map((budget) => toRow(budget, now));
  const isUseful = COLUMNS.map((_, at) => rows.some((row) => row[at] !== ""));
  const kept = <T>(cells: readonly T[]) => cells.filter((_, at) => isUseful[at]);
  const { text, hidden } = layOutTable(kept(COLUMNS), rows.map(kept), view);
  if (!hidden.includes(ASSUMED)) return text;
  const below = budgets.map((budget) => assumedBelow(budget));
  return layOutTable(kept(COLUMNS), rows.map(kept), view, below).text;
}

/** Says below the row of a budget that warns or refuses how much of its figure is only assumed. */
function assumedBelow(status: BudgetStatus): Cell[] {
  const tone = toneOfBudget(status);
  if (tone === "plain" || parseAmount(status, status.assumed) === 0n) return [];
  const amount = formatPart(toBudget(status), parseAmount(status, status.assumed));
  return [{ text: `of it ${amount} assumed`, tone }];
}

/** Where in {@link COLUMNS} those of a report are, and when they give way: the bar stays longer than what happens next. */
const IN_REPORT = [
  [0, 0],
  [1, 0],
  [2, 3],
  [3, 1],
  [4, 0],
  [10, 4],
] as const;
const ROW_COLUMNS = IN_REPORT.flatMap(([at, order]) => {
  const column = COLUMNS[at];
  return column === undefined ? [] : [{ ...column, head: "", order }];
});

/** Returns a budget's row in a report: for whom it is, its limit, what is spent as a bar and in percent, and what happens next. */
export function budgetRow(status: BudgetStatus, now: number): FactRow {
  const cells = toRow(status, now);
  return {
    columns: ROW_COLUMNS,
    cells: IN_REPORT.map(([at]) => cells[at] ?? ""),
    below: assumedBelow(status),
  };
}

function toRow(status: BudgetStatus, now: number): Cell[] {
  const budget = toBudget(status);
  const tone = toneOfBudget(status);
  const amount = (text: string) => formatPart(budget, parseAmount(status, text));
  const ifAny = (text: string) => (parseAmount(status, text) === 0n ? "" : amount(text));
  const left = budget.amount - parseAmount(status, status.spent);
  return [
    ownerOf(status),
    describeLimit(budget),
    marksOf(status).join(", "),
    { text: drawPercent(status.percent), tone },
    { text: `${status.percent}%`.padStart(4) + describeEffect(status), tone },
    amount(status.spent),
    left >= 0n ? formatPart(budget, left) : `${formatPart(budget, -left)} over`,
    ifAny(status.assumed),
    ifAny(status.reserved),
    amount(status.perHour),
    describeNext(status, now),
  ];
}

/** A tool is its name alone: its budgets are the most, and the name is told apart by its beginning. */
function ownerOf({ scope }: BudgetStatus): string {
  if (scope.kind === "all") return "all tools";
  return toPrintable(scope.kind === "tool" ? scope.name : describeWhom(scope));
}

/** Red once it is spent, yellow from the first share at which it warns. A budget that refuses nothing is yellow at most. */
export function toneOfBudget({ percent, warn, action }: BudgetStatus): Tone {
  if (percent >= 100 && action === "refuse") return "failure";
  return percent >= 100 * Math.min(1, ...warn) ? "warning" : "plain";
}

/** Says what is allowed in few words: `$3.00 per day`, `200,000 output in 5h`. */
function describeLimit(budget: Budget): string {
  const { limit, window, amount } = budget;
  const unit = "usd" in limit ? "" : ` ${limit.class ?? "tokens"}`;
  const time = "per" in window ? `per ${window.per}` : `in ${window.rolling}h`;
  return `${formatPart(budget, amount)}${unit} ${time}`;
}

/** What a spent budget does now, in a word: colours say it to some only. */
function describeEffect({ percent, action }: BudgetStatus): string {
  if (percent < 100) return "";
  return action === "refuse" ? " refuses" : " warns";
}

function marksOf({ action, isLocked }: BudgetStatus): string[] {
  return [action === "warn" && "warns", isLocked && "locked"].filter((one) => one !== false);
}

/** What happens to a budget next, and when. */
function describeNext(status: BudgetStatus, now: number): string {
  const time = (text: string) => timeInTable(Date.parse(text), now);
  if (!status.isWhole) return "still being counted";
  if (status.opensAt !== null) return `again from ${time(status.opensAt)}`;
  if (status.spentAt !== null) return `spent ${time(status.spentAt)} at this rate`;
  return "rolling" in status.window ? "" : `renews ${time(status.until)}`;
}

/** As many as a line has room for. */
const MOST_MODELS = 3;

/** Says for which models budgets assume prices, and what to type to end that; as paragraphs, none where all have prices. */
export function describeAssumed(budgets: readonly BudgetStatus[]): string[] {
  const most = new Map<string, bigint>();
  const inDollars = budgets.filter(({ limit }) => "usd" in limit);
  for (const { assumedFor } of inDollars)
    for (const { model, amount } of assumedFor) {
      const money = parseMoney(amount) ?? 0n;
      if (money > (most.get(model) ?? -1n)) most.set(model, money);
    }
  const models = [...most].toSorted(([, one], [, other]) => Number(other > one) - Number(other < one));
  const [[dearest] = []] = models;
  if (dearest === undefined) return [];
  const named = models
    .slice(0, MOST_MODELS)
    .map(([model, money]) => `${formatDollars(money)} for ${toPrintable(model)}`);
  const more = models.length > MOST_MODELS ? [`${formatNumber(models.length - MOST_MODELS)} more`] : [];
  return [
    `Assumed, because no price is known: ${[...named, ...more].join(", ")}. To see how, and to set one, type:`,
    `  ${formatCommand(["tollkeeper", "prices", toPrintable(dearest)])}`,
  ];
}

/** Says for whom budgets are lifted, and until when. `now` in ms since 1970. */
export function formatLift({ tool, until }: LiftStatus, now: number): string {
  return `Budgets for ${tool ?? "all tools"} are lifted until ${shortTime(Date.parse(until), now)}.`;
}

/** An amount in a column, where the limit says what is counted. */
function formatPart(budget: Budget, amount: bigint): string {
  return "usd" in budget.limit ? formatAmount(budget, amount) : formatNumber(Number(amount));
}

function toBudget(status: BudgetStatus): Budget {
  return { ...status, amount: parseAmount(status, status.amount) };
}

function parseAmount({ limit }: BudgetStatus, text: string): bigint {
  return "usd" in limit ? (parseMoney(text) ?? 0n) : BigInt(text);
}
