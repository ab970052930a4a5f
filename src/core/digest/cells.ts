import type { Amount, Kind, Owner, Past } from "./past.ts";

/** What the requests of one hour, session and agent used. */
export interface Cell extends Owner, Amount {
  /** As calendars write it: `YYYY-MM-DD HH:00`. */
  hour: string;
  session: string | null;
  /** null for the main agent. */
  agent: string | null;
  /** The dollars of `usd` that were charged. */
  charged: number;
}

/** Something that is judged. What it does not stand for is null. */
export interface Observation extends Owner, Amount {
  kind: Kind;
  day: string;
  session: string | null;
  agent: string | null;
  hour: string | null;
  /** The `id` of the request's record. */
  request: string | null;
}

/** Returns the day of an hour. */
export function dayOfHour(hour: string): string {
  return hour.slice(0, "YYYY-MM-DD".length);
}

/** Returns the sessions, agents and hours that cells are parts of. Requests without a session belong to none. */
export function observe(cells: readonly Cell[]): Observation[] {
  const all = new Map<string, Observation>();
  for (const { hour, tool, project, session, agent, ...amount } of cells) {
    const owner = { tool, project, day: dayOfHour(hour), request: null };
    addTo(all, { ...owner, kind: "hour", hour, session: null, agent: null, ...amount });
    if (session === null) continue;
    addTo(all, { ...owner, kind: "session", hour: null, session, agent: null, ...amount });
    if (agent !== null) addTo(all, { ...owner, kind: "agent", hour: null, session, agent, ...amount });
  }
  return [...all.values()];
}

/** Adds the sessions, agents and hours of cells to the past. */
export function remember(cells: readonly Cell[], past: Past): void {
  for (const one of observe(cells)) past.add(one.kind, one, one);
}

function addTo(all: Map<string, Observation>, one: Observation): void {
  const { kind, tool, project, day, hour, session, agent } = one;
  const key = JSON.stringify([kind, tool, project, day, hour, session, agent]);
  const sum = all.get(key);
  if (sum === undefined) all.set(key, one);
  else {
    sum.usd += one.usd;
    sum.tokens += one.tokens;
    sum.requests += one.requests;
  }
}
