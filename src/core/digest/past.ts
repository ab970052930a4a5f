import { describeUsual, type Usual } from "./usual.ts";

/** What is judged: what a session or an agent in it used on one day, what was used in an hour, and a request. */
export type Kind = "session" | "agent" | "request" | "hour";

/** How much something used. */
export interface Amount {
  /** Dollars that were charged, and the worth of what a plan paid. */
  usd: number;
  tokens: number;
  requests: number;
}
export type Measure = keyof Amount;

/** Whose past something is compared with. */
export interface Owner {
  tool: string;
  project: string | null;
}

/** What is usual, of a tool in a project, or of the tool in all projects. */
export interface KnownUsual extends Usual {
  of: "project" | "tool";
}

/** With fewer, nothing is known of what is usual. */
const LEAST_PAST: Readonly<Record<Kind, number>> = { session: 10, agent: 10, request: 50, hour: 15 };

/** A new project may differ from the tool's others, so it takes more of the tool's past. */
const TIMES_FOR_TOOL = 2;

/** What a ledger's past has of each kind, tool and project. */
export class Past {
  readonly #amounts = new Map<string, Amount[]>();
  readonly #usual = new Map<string, Usual>();

  add(kind: Kind, { tool, project }: Owner, amount: Amount): void {
    for (const key of [keyOf(kind, tool), keyOf(kind, tool, project)]) {
      const amounts = this.#amounts.get(key);
      if (amounts === undefined) this.#amounts.set(key, [amount]);
      else amounts.push(amount);
    }
  }

  /** Returns what a tool is measured by: dollars, or tokens if nothing of its past has a price. */
  measureOf(kind: Kind, tool: string): "usd" | "tokens" {
    const amounts = this.#amounts.get(keyOf(kind, tool)) ?? [];
    return amounts.some(({ usd }) => usd > 0) ? "usd" : "tokens";
  }

  /** Returns what is usual; null if too little is known. */
  usualOf(kind: Kind, { tool, project }: Owner, measure: Measure): KnownUsual | null {
    const own = this.#describe(keyOf(kind, tool, project), measure, LEAST_PAST[kind]);
    if (own !== null) return { ...own, of: "project" };
    const all = this.#describe(keyOf(kind, tool), measure, TIMES_FOR_TOOL * LEAST_PAST[kind]);
    return all === null ? null : { ...all, of: "tool" };
  }

  #describe(key: string, measure: Measure, least: number): Usual | null {
    const amounts = this.#amounts.get(key) ?? [];
    if (amounts.length < least) return null;
    const place = `${measure} ${key}`;
    let usual = this.#usual.get(place);
    if (usual === undefined) {
      const known = amounts.map((amount) => amount[measure]).filter((value) => value > 0);
      usual = describeUsual(known);
      this.#usual.set(place, usual);
    }
    return usual.count < least ? null : usual;
  }
}

function keyOf(kind: Kind, ...names: readonly (string | null)[]): string {
  return JSON.stringify([kind, ...names]);
}
