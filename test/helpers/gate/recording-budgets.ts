import type { BudgetRequest } from "../../../src/core/budget/budget-request.ts";
import type { Refusal } from "../../../src/core/refusals/refusal.ts";
import type { RequestHold, Budgets } from "../../../src/ports.ts";

/** Refuses what it is told to, and keeps what it was asked and what it holds back. */
export class RecordingBudgets implements Budgets {
  counting: Promise<void> | null = null;
  readonly asked: BudgetRequest[] = [];
  /** How many holds have not been released. */
  held = 0;
  /** How many holds have been released. */
  released = 0;
  /** What the header says of the requests that it admits. */
  percent: number | null = 7;
  refuses: (request: BudgetRequest) => boolean = () => false;
  onRelease: () => void = () => {};

  judge(request: BudgetRequest): Refusal | null {
    this.asked.push(request);
    if (!this.refuses(request)) return null;
    return {
      code: "budget_spent",
      problem: "a budget is spent",
      command: "tollkeeper budget lift codex --for 1h",
    };
  }

  hold(request: BudgetRequest): RequestHold {
    this.held += 1;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      this.held -= 1;
      this.released += 1;
      this.onRelease();
    };
    const { input, output } = request;
    return { percent: this.percent, reserved: { input, output, inputClass: "input_uncached" }, release };
  }
}
