import type { Spender } from "./budget-request.ts";
import type { Calendar } from "../ledger/calendar.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { Budget, ScopeKind } from "./budget.ts";
import { Tally } from "./tally.ts";
import { windowsOf, type Windows } from "./windows.ts";

/** What a book is kept by. Its calendar never changes. */
export interface BudgetSettings {
  budgets: readonly Budget[];
  calendar: Calendar;
  /** null where no budget is in dollars, so that prices need not be loaded. */
  prices: PriceBook | null;
  /** Returns the group of a tool; null without one. */
  groupOf(tool: string): string | null;
  /** True for a budget that no lift concerns, as things are now. */
  isLocked(budget: Budget): boolean;
}

/** The tallies of all budgets, and whom they are for. */
export class Tallies {
  readonly all: readonly Tally[];
  readonly #byId: ReadonlyMap<string, Tally>;
  readonly #together: readonly Tally[];
  readonly #named: Record<ScopeKind, Map<string, Tally[]>> = {
    tool: new Map(),
    group: new Map(),
    project: new Map(),
    key: new Map(),
  };
  readonly #groupOf: BudgetSettings["groupOf"];

  /** Tallies of the same budgets in `earlier` are kept. `knownSince` says from when on the others count. */
  constructor(
    { budgets, calendar, groupOf }: BudgetSettings,
    knownSince: (windows: Windows) => number,
    earlier?: Tallies,
  ) {
    this.all = budgets.map((budget) => {
      const windows = windowsOf(budget, calendar);
      const tally = earlier?.find(budget.id) ?? new Tally(budget, windows, knownSince(windows));
      tally.budget = budget;
      return tally;
    });
    this.#byId = new Map(this.all.map((tally) => [tally.budget.id, tally]));
    this.#together = this.all.filter(({ budget }) => budget.scope.kind === "all");
    this.#groupOf = groupOf;
    for (const tally of this.all) {
      const { scope } = tally.budget;
      if (scope.kind === "all") continue;
      const named = this.#named[scope.kind];
      named.set(scope.name, [...(named.get(scope.name) ?? []), tally]);
    }
  }

  find(id: string): Tally | undefined {
    return this.#byId.get(id);
  }

  /** Returns those of a request, in the order in which they refuse. */
  for({ tool, project, key }: Spender): readonly Tally[] {
    const named = this.#named;
    const group = named.group.size === 0 ? null : this.#groupOf(tool);
    const ofTool = named.tool.get(tool);
    const ofGroup = group === null ? undefined : named.group.get(group);
    const ofProject = project === null ? undefined : named.project.get(project);
    const ofKey = named.key.get(key);
    if ((ofTool ?? ofGroup ?? ofProject ?? ofKey) === undefined) return this.#together;
    return [ofTool, ofGroup, ofProject, ofKey, this.#together].flatMap((tallies) => tallies ?? []);
  }
}
