import { dayOfHour, type Cell, type Observation } from "./cells.ts";
import type { Kind, KnownUsual, Measure, Past } from "./past.ts";
import { limitOf } from "./usual.ts";

/** Something that used far more than is usual of its kind, by the ledger's own past. */
export interface Finding extends Observation {
  measure: Measure;
  /** How much it used, in dollars, tokens or requests. */
  amount: number;
  usual: KnownUsual;
  /** How many times the usual amount that is. */
  times: number;
  /** The part that explains it: more than half of what it used. null if none does. */
  mostly: { kind: Kind; share: number } | null;
}

/** How often a kind of a tool in a project may be found by chance in a day's digest, for costs that are distributed log-normally. */
const CHANCE = 0.01;

/** Less than this many times the usual amount is never out of line. */
const LEAST_TIMES: Readonly<Record<Kind, number>> = { session: 4, agent: 4, request: 8, hour: 4 };

/** Less than this is never out of line, whatever is usual. */
const FLOORS: Readonly<Record<Kind, Readonly<Record<"usd" | "tokens", number>>>> = {
  session: { usd: 2, tokens: 2_000_000 },
  agent: { usd: 2, tokens: 2_000_000 },
  request: { usd: 0.5, tokens: 200_000 },
  hour: { usd: 2, tokens: 2_000_000 },
};

/** An hour with fewer requests is judged only by what they used. */
const LEAST_REQUESTS = 200;

/** A part that explains what it is in. */
const EXPLAINING_SHARE = 0.5;

/** The kinds in the order in which they are reported: what is in one that was found is not reported again. */
const ORDER: readonly Kind[] = ["session", "agent", "request", "hour"];

/**
 * Returns what is out of line, the largest first. A part of something that was found is not found once more.
 * @param cells those of the judged time, whose sums the observations are
 * @param judged the sessions, agents, hours and requests of that time
 */
export function findOutOfLine(judged: readonly Observation[], cells: readonly Cell[], past: Past): Finding[] {
  const counts = new Map<string, number>();
  for (const one of judged) counts.set(groupOf(one), (counts.get(groupOf(one)) ?? 0) + 1);
  const found: Finding[] = [];
  for (const kind of ORDER) {
    const ofKind = judged
      .filter((one) => one.kind === kind)
      .flatMap((one) => judge(one, counts.get(groupOf(one)) ?? 1, past) ?? [])
      .filter((one) => !isExplained(one, found, cells));
    for (const one of ofKind) found.push({ ...one, mostly: findMost(one, judged, cells) });
  }
  return found.toSorted((one, other) => other.usd - one.usd || other.tokens - one.tokens);
}

function groupOf({ kind, tool, project }: Observation): string {
  return JSON.stringify([kind, tool, project]);
}

/** Judges by dollars or tokens, and an hour also by its requests: those of a loop may be cheap ones. */
function judge(one: Observation, count: number, past: Past): Finding | null {
  const { kind, tool } = one;
  const measure = past.measureOf(kind, tool);
  if (one[measure] < FLOORS[kind][measure]) return null;
  const hasMany = kind === "hour" && one.requests >= LEAST_REQUESTS;
  const measures: Measure[] = hasMany ? [measure, "requests"] : [measure];
  for (const by of measures) {
    const usual = past.usualOf(kind, one, by);
    const amount = one[by];
    if (usual === null) continue;
    const times = amount / usual.median;
    if (times >= LEAST_TIMES[kind] && amount > limitOf(usual, count, CHANCE))
      return { ...one, measure: by, amount, usual, times, mostly: null };
  }
  return null;
}

/** True for a part of something that was found, and for an hour that is mostly that. */
function isExplained(one: Finding, found: readonly Finding[], cells: readonly Cell[]): boolean {
  return found.some((other) => {
    if (one.kind !== "hour") return other.session !== null && isIn(one, other);
    if (!isIn({ ...one, session: other.session, agent: other.agent }, other)) return false;
    const used =
      other.kind === "request" ? other[one.measure] : sumOf(one.measure, cells, { ...other, hour: one.hour });
    return used >= EXPLAINING_SHARE * one.amount;
  });
}

/** Returns the largest part of what was found, if it is more than half: an agent, a request, an hour or a session. */
function findMost(one: Finding, judged: readonly Observation[], cells: readonly Cell[]): Finding["mostly"] {
  const { kind, measure, amount } = one;
  if (kind === "request" || measure === "requests") return null;
  for (const part of PARTS[kind]) {
    const amounts =
      part === "request"
        ? judged.filter((other) => other.kind === part && isIn(other, one)).map((other) => other[measure])
        : [
            ...sumsBy(
              part,
              cells.filter((cell) => isIn({ ...cell, day: dayOfHour(cell.hour) }, one)),
              measure,
            ),
          ];
    const share = amounts.reduce((most, value) => Math.max(most, value), 0) / amount;
    if (share > EXPLAINING_SHARE) return { kind: part, share: Math.min(1, share) };
  }
  return null;
}

/** What may explain each kind, the best explanation first. */
const PARTS = {
  session: ["request", "agent", "hour"],
  agent: ["request"],
  hour: ["request", "session"],
} as const satisfies Record<Exclude<Kind, "request">, readonly Kind[]>;

type Place = Pick<Observation, "tool" | "project" | "day" | "session" | "agent" | "hour">;

function isIn(part: Place, { tool, project, day, session, agent, hour }: Place): boolean {
  return (
    part.tool === tool &&
    part.project === project &&
    part.day === day &&
    (session === null || part.session === session) &&
    (agent === null || part.agent === agent) &&
    (hour === null || part.hour === hour)
  );
}

function sumOf(measure: Measure, cells: readonly Cell[], place: Place): number {
  return cells
    .filter((cell) => isIn({ ...cell, day: dayOfHour(cell.hour) }, place))
    .reduce((sum, cell) => sum + cell[measure], 0);
}

/** Returns the sums of cells by their agent, session or hour. Those without one are left out. */
function sumsBy(
  part: "agent" | "session" | "hour",
  cells: readonly Cell[],
  measure: Measure,
): Iterable<number> {
  const sums = new Map<string, number>();
  for (const cell of cells) {
    const name = cell[part];
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + cell[measure]);
  }
  return sums.values();
}
