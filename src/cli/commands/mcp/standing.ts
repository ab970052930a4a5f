import { askRunning } from "../../../daemon/running-daemon.ts";
import { describeAssumed, formatBudgets, formatLift } from "../../budget/format-budgets.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { NO_BUDGET } from "../budget.ts";
import { formatLimits } from "../../limits/format-limits.ts";
import { NOTHING_SEEN, OTHERS_COUNT } from "../monitoring/limits.ts";
import { answerOf, textView, type Question } from "./question.ts";

/** What is left of budgets, as `budget` says it. Those of other projects are left out, unless all projects are allowed. */
export const BUDGETS: Question = {
  tool: {
    name: "budgets",
    title: "What is left of budgets",
    description:
      "How much of each budget in US dollars or tokens is spent, what is left, and when its window ends. Needs the running daemon.",
    parameters: {},
  },
  async answer({ scope: { project, hasAllProjects } }) {
    const status = await askRunning("budgets");
    if (status === null) throw await explainAbsence();
    const budgets = status.budgets.filter(
      ({ scope }) => hasAllProjects || scope.kind !== "project" || scope.name === project,
    );
    const now = Date.now();
    const view = textView();
    const shown =
      budgets.length === 0
        ? [layOutProse(NO_BUDGET, view.width)]
        : [formatBudgets(budgets, now, view), ...describeAssumed(budgets)];
    const lifts = status.lifts.map((lift) => formatLift(lift, now));
    const explained = [...shown, ...lifts];
    return answerOf(explained.join("\n"), { ...status, budgets, explained });
  },
};

/** What is left of the services' own limits, as `limits` says it. */
export const LIMITS: Question = {
  tool: {
    name: "limits",
    title: "What is left of the services' limits",
    description:
      "How much of the services' own rate limits and plan windows is used, by the responses so far. Needs the running daemon.",
    parameters: {},
  },
  async answer() {
    const status = await askRunning("limits");
    if (status === null) throw await explainAbsence();
    const accounts = status.accounts.map(({ account, windows }) => ({
      account,
      windows: windows.map((window) => ({ ...window, below: [] })),
    }));
    const table = formatLimits(accounts, Date.parse(status.at), textView());
    const lines = accounts.length === 0 ? NOTHING_SEEN : [table, OTHERS_COUNT];
    return answerOf(lines.join("\n"), { ...status, explained: lines });
  },
};
