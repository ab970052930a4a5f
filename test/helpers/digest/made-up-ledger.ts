import { createRandom } from "../../core/usage/corpus.ts";
import { observe, remember, type Cell, type Observation } from "../../../src/core/digest/cells.ts";
import { findOutOfLine, type Finding } from "../../../src/core/digest/out-of-line.ts";
import { Past } from "../../../src/core/digest/past.ts";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";

/** The first of the days, a Monday. */
const FIRST_DAY = "2026-09-28";

/** As many days of the past as the digest of a day has. */
const PAST_DAYS = 28;

/** A made-up request. */
export interface MadeUpRequest {
  hour: string;
  tool: string;
  project: string | null;
  session: string | null;
  agent: string | null;
  usd: number;
  tokens: number;
}

/** How a tool is used in a project. */
export interface Habit {
  tool: string;
  project: string;
  /** Sessions on a weekday. */
  sessions: number;
  /** The usual number of a session's requests, and the dollars of one. */
  requests: number;
  usd: number;
  /** Standard deviations of the logarithms of both. */
  spread: number;
  /** The share of weekdays' sessions at weekends. */
  weekend?: number;
  /** By how much it grows in 60 days. */
  growth?: number;
  /** The first day on which it is used. */
  from?: number;
  /** The share of requests that are side calls, which cost next to nothing. */
  side?: number;
}

/** Returns the name of a day by its number. */
export function dayName(day: number): string {
  return UTC_CALENDAR.dayOf(Date.parse(FIRST_DAY) + day * 86_400_000);
}

export function hourName(day: number, hour: number): string {
  return `${dayName(day)} ${String(hour).padStart(2, "0")}:00`;
}

/** Returns the requests of each day. */
export function makeUp(seed: number, habits: readonly Habit[], days: number): MadeUpRequest[][] {
  const random = createRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: days }, (_, day) =>
    habits.flatMap((habit) => dayOf(habit, day, random, normal)),
  );
}

function dayOf(habit: Habit, day: number, random: () => number, normal: () => number): MadeUpRequest[] {
  const { tool, project, spread, weekend = 1, growth = 1, from = 0, side = 0 } = habit;
  if (day < from) return [];
  const grown = growth ** (day / 60);
  const usual = habit.sessions * (day % 7 >= 5 ? weekend : 1);
  const sessions = Math.max(0, Math.round(usual + Math.sqrt(usual) * normal()));
  return Array.from({ length: sessions }, (_, number) => {
    const count = Math.max(1, Math.round(habit.requests * Math.exp(spread * normal())));
    const price = habit.usd * grown * Math.exp(0.3 * normal());
    const start = 8 + Math.floor(random() * 10);
    const agents = random() < 0.4 ? 1 + Math.floor(random() * 3) : 0;
    return Array.from({ length: count }, (_none, at) => {
      // The prompt grows with each request of a session.
      const isSide = random() < side;
      const usd = isSide
        ? 0.0004 * Math.exp(0.3 * normal())
        : price * (0.5 + at / count) * Math.exp(spread * normal());
      return {
        hour: hourName(day, Math.min(23, start + Math.floor(at / 40))),
        tool,
        project,
        session: `${tool}-${project}-${day}-${number}`,
        agent: agents > 0 && random() < 0.35 ? `a${Math.floor(random() * agents)}` : null,
        usd,
        tokens: Math.round(usd * 500_000),
      };
    });
  }).flat();
}

/** Returns the sums of requests by hour, session and agent. */
function cellsOf(requests: readonly MadeUpRequest[]): Cell[] {
  const cells = new Map<string, Cell>();
  for (const { hour, tool, project, session, agent, usd, tokens } of requests) {
    const key = JSON.stringify([hour, tool, project, session, agent]);
    const cell = cells.get(key);
    if (cell === undefined)
      cells.set(key, { hour, tool, project, session, agent, usd, charged: usd, tokens, requests: 1 });
    else {
      cell.usd += usd;
      cell.charged += usd;
      cell.tokens += tokens;
      cell.requests += 1;
    }
  }
  return [...cells.values()];
}

/** The cells of days that were asked for, because each day is in the past of many. */
const CELLS = new WeakMap<readonly MadeUpRequest[], Cell[]>();

function cellsOfDay(requests: readonly MadeUpRequest[]): Cell[] {
  const known = CELLS.get(requests) ?? cellsOf(requests);
  CELLS.set(requests, known);
  return known;
}

/** Returns what the digest of a day finds. */
export function findOn(days: readonly (readonly MadeUpRequest[])[], day: number): Finding[] {
  const past = new Past();
  for (const requests of days.slice(Math.max(0, day - PAST_DAYS), day)) {
    remember(cellsOfDay(requests), past);
    for (const one of requests) past.add("request", one, { ...one, requests: 1 });
  }
  const today = days[day] ?? [];
  const cells = cellsOf(today);
  return findOutOfLine([...observe(cells), ...today.map(toObservation)], cells, past);
}

function toObservation(request: MadeUpRequest, at: number): Observation {
  return { kind: "request", day: request.hour.slice(0, 10), request: `r${at}`, requests: 1, ...request };
}
