import { mondayOf } from "../ledger/calendar.ts";
import { dayOfHour, type Cell } from "./cells.ts";
import type { Owner } from "./past.ts";
import { medianOf } from "./usual.ts";

/** What a digest is about. */
export type Span = "day" | "week";

/** What a usual day or week has: the medians of those on which anything was used. */
export interface UsualSpending {
  /** How many days or weeks it is known from. */
  spans: number;
  /** Dollars. */
  charged: number;
  /** Dollars that a plan's requests would have cost without it. */
  worth: number;
  tokens: number;
  requests: number;
}

/** With fewer days or weeks nothing is called usual. */
const LEAST_SPANS: Readonly<Record<Span, number>> = { day: 5, week: 3 };

/**
 * Returns what is usual of a tool in a project, or without an owner of all together; null if too little is known.
 * @param cells those of the past
 */
export function describeSpending(cells: readonly Cell[], span: Span, owner?: Owner): UsualSpending | null {
  const sums = new Map<string, Sums>();
  for (const { hour, tool, project, usd, charged, tokens, requests } of cells) {
    if (owner !== undefined && (tool !== owner.tool || project !== owner.project)) continue;
    const day = dayOfHour(hour);
    const name = span === "day" ? day : mondayOf(day);
    const sum = sums.get(name) ?? { charged: 0, worth: 0, tokens: 0, requests: 0 };
    sums.set(name, {
      charged: sum.charged + charged,
      worth: sum.worth + usd - charged,
      tokens: sum.tokens + tokens,
      requests: sum.requests + requests,
    });
  }
  const used = [...sums.values()].filter(({ requests }) => requests > 0);
  if (used.length < LEAST_SPANS[span]) return null;
  const median = (name: keyof Sums) => medianOf(used.map((one) => one[name])) ?? 0;
  return {
    spans: used.length,
    charged: median("charged"),
    worth: median("worth"),
    tokens: median("tokens"),
    requests: median("requests"),
  };
}

type Sums = Omit<UsualSpending, "spans">;
