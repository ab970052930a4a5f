import type { BudgetRequest } from "../core/budget/running.ts";
import type { Config } from "../core/config/config.ts";
import type { Refusal } from "../core/http/refusal.ts";
import { preparePolicies } from "../core/policy/tool-policy.ts";
import type { BudgetHold, Budgets } from "../ports.ts";
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

  /** What keeps the budgets; null while the configuration has had none. */
  get keeper(): BudgetKeeper | null {
    return this.#keeper;
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

  admit(request: BudgetRequest): BudgetHold | Refusal {
    return this.#keeper?.admit(request) ?? NOT_KEPT;
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

const NOT_KEPT: Refusal = {
  code: "budget_unknown",
  problem: "budgets cannot be kept",
  command: "tollkeeper logs",
  details: "what was spent is not known, so no request with a budget is sent",
};

function hasBudgets(config: Config): boolean {
  const policyFor = preparePolicies(config);
  const tools = ["", ...Object.keys(config.tools)];
  return tools.some((tool) => policyFor?.(tool)?.hasBudgets === true);
}
