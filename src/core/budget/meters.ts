import type { Spender } from "./budget-request.ts";
import type { Calendar } from "../ledger/calendar.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { Budget, ScopeKind } from "./budget.ts";
import { Meter } from "./meter.ts";
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

/** The meters of all budgets, and whom they are for. */
export class Meters {
  readonly all: readonly Meter[];
  readonly #byId: ReadonlyMap<string, Meter>;
  readonly #together: readonly Meter[];
  readonly #named: Record<ScopeKind, Map<string, Meter[]>> = {
    tool: new Map(),
    group: new Map(),
    project: new Map(),
    key: new Map(),
  };
  readonly #groupOf: BudgetSettings["groupOf"];

  /** Meters of the same budgets in `earlier` are kept. `knownSince` says from when on the others count. */
  constructor(
    { budgets, calendar, groupOf }: BudgetSettings,
    knownSince: (windows: Windows) => number,
    earlier?: Meters,
  ) {
    this.all = budgets.map((budget) => {
      const windows = windowsOf(budget, calendar);
      const meter = earlier?.find(budget.id) ?? new Meter(budget, windows, knownSince(windows));
      meter.budget = budget;
      return meter;
    });
    this.#byId = new Map(this.all.map((meter) => [meter.budget.id, meter]));
    this.#together = this.all.filter(({ budget }) => budget.scope.kind === "all");
    this.#groupOf = groupOf;
    for (const meter of this.all) {
      const { scope } = meter.budget;
      if (scope.kind === "all") continue;
      const named = this.#named[scope.kind];
      named.set(scope.name, [...(named.get(scope.name) ?? []), meter]);
    }
  }

  find(id: string): Meter | undefined {
    return this.#byId.get(id);
  }

  /** Returns those of a request, in the order in which they refuse. */
  for({ tool, project, key }: Spender): readonly Meter[] {
    const named = this.#named;
    const group = named.group.size === 0 ? null : this.#groupOf(tool);
    const ofTool = named.tool.get(tool);
    const ofGroup = group === null ? undefined : named.group.get(group);
    const ofProject = project === null ? undefined : named.project.get(project);
    const ofKey = named.key.get(key);
    if ((ofTool ?? ofGroup ?? ofProject ?? ofKey) === undefined) return this.#together;
    return [ofTool, ofGroup, ofProject, ofKey, this.#together].flatMap((meters) => meters ?? []);
  }
}
