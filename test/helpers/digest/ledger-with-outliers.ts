import { formatRecord } from "../../../src/core/ledger/format-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { tokens, usageRecord } from "../ledger/usage-record.ts";
import { dayName, makeUp, type MadeUpRequest } from "./made-up-ledger.ts";

/** A Saturday. Nothing before the first of the days is recorded. */
export const DAY = "2026-11-07";
const DAYS = 41;

const HABITS = [
  { tool: "codex", project: "/home/u/shop", sessions: 3, requests: 12, usd: 0.03, spread: 0.5 },
  { tool: "claude-code", project: "/home/u/shop", sessions: 4, requests: 15, usd: 0.04, spread: 0.5 },
];

/** Dollars for an input token of the records' model. */
const PRICE = 1.25e-6;

/**
 * Returns the ledger's files of six weeks that end with {@link DAY}. On that day an agent of a session of codex costs $30.00 more than usual,
 * and a request of claude-code costs $2.50.
 */
export function ledgerWithOutliers(): Record<string, string> {
  const days = makeUp(1, HABITS, DAYS);
  const planted = { hour: `${DAY} 13:00`, project: "/home/u/shop", tokens: 0 };
  const session = { ...planted, tool: "codex", session: "planted" };
  days
    .at(-1)
    ?.push(
      ...Array.from({ length: 20 }, () => ({ ...session, agent: null, usd: 0.05 })),
      ...Array.from({ length: 200 }, () => ({ ...session, agent: "a1", usd: 0.15 })),
      { ...planted, tool: "claude-code", session: "huge", agent: null, usd: 2.5 },
    );
  const files = days.map((requests, day) => [`${dayName(day)}.ndjson`, requests.map(toLine).join("")]);
  return Object.fromEntries(files) as Record<string, string>;
}

function toLine({ hour, tool, project, session, agent, usd }: MadeUpRequest, at: number): string {
  const record: Partial<UsageRecord> = {
    ts: new Date(Date.parse(`${hour.replace(" ", "T")}Z`) + at).toISOString(),
    tool,
    project,
    session,
    agent,
    tokens: tokens({ input_uncached: Math.round(usd / PRICE) }),
  };
  return `${formatRecord(usageRecord(record))}\n`;
}
