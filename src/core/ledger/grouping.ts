import { mondayOf, type Calendar } from "./calendar.ts";
import { accountOf } from "../plans/names.ts";
import type { SummableRecord } from "./record.ts";
import type { WindowNamer } from "../limits/window-names.ts";

const HOUR_MS = 3_600_000;

/** What the rows of a report can be grouped by. */
export const GROUPINGS = [
  "tool",
  "model",
  "hour",
  "day",
  "week",
  "month",
  "session",
  "agent",
  "agent_parent",
  "agent_kind",
  "turn",
  "project",
  "branch",
  "key",
  "account",
  "upstream",
  "route",
  "outcome",
  "miss",
] as const;
/** Those, and the windows of the services' limits, of which a question has to know when they were. */
export type Grouping = (typeof GROUPINGS)[number] | "window";

/** Groupings by time. */
export type TimeGrouping = Extract<Grouping, "hour" | "day" | "week" | "month">;
const TIMES: ReadonlySet<Grouping> = new Set<TimeGrouping>(["hour", "day", "week", "month"]);

/** True where the names of rows are times, which sort as text. */
export function isTime(grouping: Grouping): grouping is TimeGrouping {
  return TIMES.has(grouping);
}

/**
 * Returns the name of the row that a request belongs to; null when its record does not say. Days are written `YYYY-MM-DD`, weeks as
 * their Monday, months as `YYYY-MM`, hours as `YYYY-MM-DD HH:00`; the two hours of the same name when clocks go back are one.
 * @param source the record with the usage, which says what model served
 * @param windowOf for the windows of services' limits; null where they are not known
 */
export function nameOf(
  grouping: Grouping,
  record: SummableRecord,
  source: SummableRecord,
  calendar: Calendar,
  windowOf: WindowNamer | null = null,
): string | null {
  switch (grouping) {
    case "window":
      return windowOf === null ? null : windowOf(record);
    case "model":
      return source.model ?? record.model ?? record.model_requested;
    case "miss":
      return source.miss ?? record.miss;
    case "account":
      return accountOf(record.upstream, record.key);
    case "hour":
    case "day":
    case "week":
    case "month":
      return timeName(grouping, Date.parse(record.ts), calendar);
    default:
      return record[grouping];
  }
}

/** Returns the name of the row that a time belongs to, in milliseconds since 1970. */
export function timeName(grouping: TimeGrouping, time: number, calendar: Calendar): string {
  if (grouping === "hour") return calendar.hourOf(time);
  const day = calendar.dayOf(time);
  if (grouping === "week") return mondayOf(day);
  return grouping === "month" ? day.slice(0, 7) : day;
}

/** True where the names of rows are paths. */
export function isPath(grouping: string): boolean {
  return grouping === "project";
}

/**
 * Returns how many hours of a time have no row: before each row of a report by hour, and after the last one. The latest row is the first.
 * @param names the hours of the rows; those of one hour stand together
 * @param until the first moment after the time
 */
export function countIdleHours(
  names: readonly string[],
  { since, until }: { since: number; until: number },
  calendar: Calendar,
): number[] {
  const places = new Map<string, number>();
  // An hour that begins before the time is one of its hours, and clocks that go back repeat one.
  for (let at = since; at < until; at += HOUR_MS) place(at);
  if (until > since) place(until - 1);
  let later = places.size;
  const idle = names.map((name) => {
    // Days whose records are deleted may reach beyond the time.
    const at = places.get(name) ?? later;
    const between = Math.max(0, later - at - 1);
    later = Math.min(later, at);
    return between;
  });
  return [...idle, later];

  function place(time: number): void {
    const name = timeName("hour", time, calendar);
    if (!places.has(name)) places.set(name, places.size);
  }
}
