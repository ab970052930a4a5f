import { MOST_TOKENS } from "./clients.ts";
import type { BudgetReport } from "./run-budgets.ts";

const SHOWN_FAULTS = 20;

/** Renders what the rounds showed, one fact a line, with the first faults. */
export function renderBudgetReport(report: BudgetReport): string[] {
  const { rounds, answers, billed, spent, assumed, excesses, faults } = report;
  return [
    `${rounds} rounds: ${answers.passed} requests passed, ${answers.refused} refused, ${answers.broken} cut off`,
    `tokens: the sandbox billed ${billed}, the budget counts ${spent}, ${assumed} of them assumed`,
    `beyond what a round had room for, in tokens; the largest request may cost ${MOST_TOKENS}:`,
    `  counted ${spread(excesses.map(({ counted }) => counted))}`,
    `  billed ${spread(excesses.map((excess) => excess.billed))}`,
    `${faults.length} faults`,
    ...faults.slice(0, SHOWN_FAULTS),
  ];
}

/** Negative amounts are room that was left. */
function spread(amounts: readonly number[]): string {
  const sorted = amounts.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const over = amounts.filter((amount) => amount > 0).length;
  return `at most ${at(1)}, 95 % ${at(0.95)}, half ${at(0.5)}; in ${over} rounds more than nothing`;
}
