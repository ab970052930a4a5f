import type { Spender } from "./budget-request.ts";
import type { Calendar } from "../ledger/calendar.ts";
import type { PriceBook } from "../price/price-book.ts";
import type { Budget } from "./budget.ts";
import { Gauge } from "./gauge.ts";
import type { ScopeKind } from "./kinds.ts";
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

/** The gauges of all budgets, and whom they are for. */
export class Gauges {
  readonly all: readonly Gauge[];
  readonly #byId: ReadonlyMap<string, Gauge>;
  readonly #together: readonly Gauge[];
  readonly #named: Record<ScopeKind, Map<string, Gauge[]>> = {
    tool: new Map(),
    group: new Map(),
    project: new Map(),
    key: new Map(),
  };
  readonly #groupOf: BudgetSettings["groupOf"];

  /** Gauges of the same budgets in `earlier` are kept. `knownSince` says from when on the others count. */
  constructor(
    { budgets, calendar, groupOf }: BudgetSettings,
    knownSince: (windows: Windows) => number,
    earlier?: Gauges,
  ) {
    this.all = budgets.map((budget) => {
      const windows = windowsOf(budget, calendar);
      const gauge = earlier?.find(budget.id) ?? new Gauge(budget, windows, knownSince(windows));
      gauge.budget = budget;
      return gauge;
    });
    this.#byId = new Map(this.all.map((gauge) => [gauge.budget.id, gauge]));
    this.#together = this.all.filter(({ budget }) => budget.scope.kind === "all");
    this.#groupOf = groupOf;
    for (const gauge of this.all) {
      const { scope } = gauge.budget;
      if (scope.kind === "all") continue;
      const named = this.#named[scope.kind];
      named.set(scope.name, [...(named.get(scope.name) ?? []), gauge]);
    }
  }

  find(id: string): Gauge | undefined {
    return this.#byId.get(id);
  }

  /** Returns those of a request, in the order in which they refuse. */
  for({ tool, project, key }: Spender): readonly Gauge[] {
    const named = this.#named;
    const group = named.group.size === 0 ? null : this.#groupOf(tool);
    const ofTool = named.tool.get(tool);
    const ofGroup = group === null ? undefined : named.group.get(group);
    const ofProject = project === null ? undefined : named.project.get(project);
    const ofKey = named.key.get(key);
    if ((ofTool ?? ofGroup ?? ofProject ?? ofKey) === undefined) return this.#together;
    let found: readonly Gauge[] = [];
    for (const gauges of [ofTool, ofGroup, ofProject, ofKey, this.#together])
      if (gauges !== undefined && gauges.length > 0)
        found = found.length === 0 ? gauges : [...found, ...gauges];
    return found;
  }
}
