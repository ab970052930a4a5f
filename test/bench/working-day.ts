import { addDays } from "../../src/core/ledger/calendar.ts";
import { dayAt } from "../../src/core/ledger/day.ts";
import { tokens, usageRecord } from "../helpers/ledger/usage-record.ts";
import { TOOLS, writeRecords } from "./ledger.ts";

const HOUR_MS = 3_600_000;
const SESSIONS_A_DAY = 30;
const PROJECTS = 12;
const BRANCHES = 5;
/** Between 8 and 20 o'clock UTC. */
const FIRST_HOUR = 8;
const HOURS = 12;
const HOURS_OF_SESSION = 3;
const REQUESTS_OF_TURN = 15;
const KINDS = ["main", "main", "main", "subagent", "subagent", "title", "compaction"] as const;

/** Writes as many records for each of the days up to yesterday, as people work: sessions of some hours, in projects, with sub-agents and turns. */
export function writeWorkingDays(ledger: string, days: number, perDay: number): void {
  const today = dayAt(Date.now());
  for (let before = days; before > 0; before -= 1) {
    const day = addDays(today, -before);
    writeRecords(ledger, day, perDay, (at) => recordOf(day, at, perDay));
  }
}

function recordOf(day: string, at: number, perDay: number): object {
  const session = at % SESSIONS_A_DAY;
  const nth = Math.floor(at / SESSIONS_A_DAY);
  const [tool, model, upstream, route] =
    TOOLS[(session + (nth % 3 === 0 ? 1 : 0)) % TOOLS.length] ?? TOOLS[0];
  const start = FIRST_HOUR + (session % (HOURS - HOURS_OF_SESSION));
  const passed = (nth * SESSIONS_A_DAY * HOURS_OF_SESSION * HOUR_MS) / perDay;
  const kind = KINDS[nth % KINDS.length] ?? "main";
  const isCut = at % 50 === 0;
  const id = `${day}-${session}`;
  return usageRecord({
    id: `${day}-${at}`,
    ts: new Date(Date.parse(day) + Math.floor(start * HOUR_MS + passed)).toISOString(),
    tool,
    session: `8f3b2c1d-${id}`,
    agent: kind === "main" ? null : `agent-${id}-${nth % KINDS.length}`,
    agent_kind: kind,
    turn: `turn-${id}-${Math.floor(nth / REQUESTS_OF_TURN)}`,
    user_agent: null,
    project: `/home/ada/src/project-${session % PROJECTS}`,
    branch: `branch-${(session + Number(day.slice(8))) % BRANCHES}`,
    key: session % 4 === 0 ? "work" : "default",
    upstream,
    route,
    model,
    model_requested: model,
    outcome: isCut ? "cut" : "completed",
    usage: isCut ? "partial" : "final",
    cut_by: isCut ? "client" : null,
    ttft_ms: 200 + ((at * 31) % 3000),
    duration_ms: 3_500 + ((at * 37) % 20_000),
    raw_usage: null,
    tokens: tokens({
      input_uncached: (at * 41) % 3_000,
      cache_read: (at * 9_973) % 160_000,
      cache_write: (at * 53) % 5_000,
      output: 1 + ((at * 59) % 2_000),
    }),
  });
}
