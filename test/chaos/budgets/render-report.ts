import type { BudgetReport } from "./run-budgets.ts";

const SHOWN_FAULTS = 20;

/** Renders what the rounds showed, one fact a line, with the first faults. */
export function renderBudgetReport(report: BudgetReport): string[] {
  const { rounds, answers, billed, spent, assumed, excess, faults } = report;
  return [
    `${rounds} rounds: ${answers.passed} requests passed, ${answers.refused} refused, ${answers.broken} cut off`,
    `tokens: the sandbox billed ${billed}, the budget counts ${spent}, ${assumed} of them assumed`,
    `the most that was billed beyond a limit: ${Math.max(0, excess)}`,
    `${faults.length} faults`,
    ...faults.slice(0, SHOWN_FAULTS),
  ];
}
