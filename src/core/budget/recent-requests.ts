import { amountOf, type Spent } from "./spent.ts";
import type { BudgetTerms } from "./kinds.ts";

/** How many requests of a tool are remembered, and how many it takes to tell what is usual. */
const REMEMBERED = 32;
const ENOUGH = 8;

/** How many tools are remembered: names of tools may be clients' own. The one that was idle the longest is forgotten first. */
const MAX_TOOLS = 200;

/** What the latest requests of a tool spent. */
interface Recent {
  requests: Spent[];
  /** What is usual, by what is counted, as far as it has been asked for. */
  usual: Map<string, bigint>;
}

/** What the latest requests of each tool spent. */
export class RecentRequests {
  /** The tool that was used last is the last one. */
  readonly #tools = new Map<string, Recent>();

  add(tool: string, spent: Spent): void {
    const recent: Recent = this.#tools.get(tool) ?? { requests: [], usual: new Map() };
    this.#tools.delete(tool);
    this.#tools.set(tool, recent);
    recent.requests.push(spent);
    if (recent.requests.length > REMEMBERED) recent.requests.shift();
    recent.usual.clear();
    const [idle] = this.#tools.keys();
    if (this.#tools.size > MAX_TOOLS && idle !== undefined) this.#tools.delete(idle);
  }

  /** Returns the amount that nine of ten requests of a tool did not exceed, in the unit of a budget; null if too few are known. */
  usual(tool: string, budget: Pick<BudgetTerms, "limit">): bigint | null {
    const recent = this.#tools.get(tool);
    if (recent === undefined || recent.requests.length < ENOUGH) return null;
    const unit = "usd" in budget.limit ? "usd" : (budget.limit.class ?? "all");
    let usual = recent.usual.get(unit);
    if (usual === undefined) {
      usual = ninthDecile(
        recent.requests.map((one) => amountOf(budget, one.known) + amountOf(budget, one.assumed)),
      );
      recent.usual.set(unit, usual);
    }
    return usual;
  }
}

function ninthDecile(amounts: bigint[]): bigint {
  amounts.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return amounts[Math.ceil(amounts.length * 0.9) - 1] ?? 0n;
}
