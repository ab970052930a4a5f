import type { ReportRow } from "../ledger/report.ts";
import { sumTokens } from "../ledger/tally.ts";

/** By what the requests that moved a window are told apart. */
export const MOVERS = ["tool", "project", "session"] as const;

/** What a tool, a project or a session has used since a window began. */
export interface Mover {
  /** null for requests whose records do not say. */
  name: string | null;
  tokens: number;
  /** Of all tokens of the account that passed, rounded to a tenth. */
  sharePercent: number;
}

/** Who used an account since one of its windows began, by the tokens that passed. A correlation: services count in ways of their own. */
export interface MovedBy extends Record<(typeof MOVERS)[number], readonly Mover[]> {
  /** When the window began; ISO 8601, UTC. */
  since: string;
  tokens: number;
}

/** Shares out the tokens of a report by {@link MOVERS}, most first; null without any. `since` in milliseconds since 1970. */
export function shareOut(
  { rows, total }: { rows: readonly Pick<ReportRow, "names" | "sums">[]; total: Pick<ReportRow, "sums"> },
  since: number,
): MovedBy | null {
  const tokens = sumTokens(total.sums);
  if (tokens === 0) return null;
  const listBy = (place: number): Mover[] => {
    const sums = new Map<string | null, number>();
    for (const { names, sums: row } of rows) {
      const name = names[place] ?? null;
      sums.set(name, (sums.get(name) ?? 0) + sumTokens(row));
    }
    return [...sums]
      .filter(([, used]) => used > 0)
      .map(([name, used]) => ({ name, tokens: used, sharePercent: Math.round((1000 * used) / tokens) / 10 }))
      .toSorted((one, other) => other.tokens - one.tokens);
  };
  return {
    since: new Date(since).toISOString(),
    tokens,
    tool: listBy(MOVERS.indexOf("tool")),
    project: listBy(MOVERS.indexOf("project")),
    session: listBy(MOVERS.indexOf("session")),
  };
}
