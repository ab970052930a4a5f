import { NO_BUDGETS, type BudgetsStatus } from "../core/budget/budget-status.ts";
import type { BudgetRequest } from "../core/budget/budget-request.ts";
import type { Config } from "../core/config/config.ts";
import { Failure } from "../core/failure.ts";
import type { Refusal } from "../core/refusals/refusal.ts";
import { preparePolicies } from "../core/policy/tool-policy.ts";
import { toPrintable } from "../core/text/printable.ts";
import type { RequestHold, Budgets } from "../ports.ts";
import type { BudgetKeeper, BudgetParts } from "./budgets/keeper.ts";

/** Loads what keeps budgets, and prices, once a configuration has budgets, and not before. */
export class DaemonBudgets implements Budgets {
  readonly #parts: BudgetParts;
  #keeper: BudgetKeeper | null = null;
  #counting: Promise<void> | null = null;

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  get counting(): Promise<void> | null {
    return this.#counting;
  }

  /** Says where each budget stands, as far as that is known. */
  describe(): BudgetsStatus {
    return this.#keeper?.describe() ?? NO_BUDGETS;
  }

  /** Returns how much is spent, in percent, of the budget of which the most is, of those for a tool; null without one. */
  percentFor(tool: string | null): number | null {
    return this.#keeper?.percentFor(tool) ?? null;
  }

  /** Lets no budget refuse a tool for so many milliseconds; null for all tools. Rejects with a Failure when there is no budget, or all are locked. */
  async lift(tool: string | null, durationMs: number): Promise<BudgetsStatus> {
    const keeper = await this.#required();
    keeper.lift(tool, durationMs);
    return keeper.describe();
  }

  /** Lets the window of a budget begin now. Rejects with a Failure when there is no such budget, or it is locked. */
  async reset(id: string): Promise<BudgetsStatus> {
    const keeper = await this.#required();
    if (!keeper.reset(id))
      throw new Failure(`there is no budget "${toPrintable(id)}"`, "see: tollkeeper budget");
    return keeper.describe();
  }

  async #required(): Promise<BudgetKeeper> {
    await this.#counting;
    if (this.#keeper !== null) return this.#keeper;
    throw new Failure(
      "the configuration has no budget",
      "set one with, for example: tollkeeper budget set codex --usd 20 --per day",
    );
  }

  /** Applies a configuration: requests that have budgets by it wait until they can be judged. */
  use(config: Config): void {
    if (this.#keeper === null && !hasBudgets(config)) return;
    const before = this.#counting ?? Promise.resolve();
    const counting = before.then(() => this.#apply(config));
    this.#counting = counting;
    void counting.then(() => {
      if (this.#counting === counting) this.#counting = null;
    });
  }

  judge(request: BudgetRequest): Refusal | null {
    return this.#keeper === null ? NOT_KEPT : this.#keeper.judge(request);
  }

  hold(request: BudgetRequest): RequestHold {
    return this.#keeper?.hold(request) ?? NOTHING_HELD;
  }

  /** Never rejects: what cannot be kept refuses. */
  async #apply(config: Config): Promise<void> {
    try {
      if (this.#keeper !== null) await this.#keeper.use(config);
      else {
        const { BudgetKeeper } = await import("./budgets/keeper.ts");
        this.#keeper = await BudgetKeeper.open(this.#parts, config);
      }
    } catch (error) {
      this.#parts.log.error({ err: error }, "budgets cannot be kept; requests that have one are refused");
    }
  }
}

const NOTHING_HELD: RequestHold = { percent: null, reserved: null, release: () => {} };

const NOT_KEPT: Refusal = {
  code: "budget_unknown",
  problem: "budgets cannot be kept",
  reason: "what was spent is not known, so no request with a budget is sent",
  command: "tollkeeper service logs",
};

function hasBudgets(config: Config): boolean {
  const policyFor = preparePolicies(config);
  const tools = ["", ...Object.keys(config.tools)];
  return tools.some((tool) => policyFor?.(tool)?.hasBudgets === true);
}
