import { mondayOf, type Calendar } from "./calendar.ts";
import type { SummableRecord } from "./record.ts";

/** What the rows of a report can be grouped by. */
export const GROUPINGS = [
  "tool",
  "model",
  "hour",
  "day",
  "week",
  "month",
  "session",
  "project",
  "branch",
  "key",
  "upstream",
  "route",
  "outcome",
] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Groupings by time. */
const TIMES: ReadonlySet<Grouping> = new Set(["hour", "day", "week", "month"]);

/** True where the names of rows are times, which sort as text. */
export function isTime(grouping: Grouping): boolean {
  return TIMES.has(grouping);
}

/**
 * Returns the name of the row that a request belongs to; null when its record does not say. Days are written `YYYY-MM-DD`, weeks as
 * their Monday, months as `YYYY-MM`, hours as `YYYY-MM-DD HH:00`; the two hours of the same name when clocks go back are one.
 * @param source the record with the usage, which says what model served
 */
export function nameOf(
  grouping: Grouping,
  record: SummableRecord,
  source: SummableRecord,
  calendar: Calendar,
): string | null {
  switch (grouping) {
    case "model":
      return source.model ?? record.model ?? record.model_requested;
    case "hour":
      return calendar.hourOf(Date.parse(record.ts));
    case "day":
      return calendar.dayOf(Date.parse(record.ts));
    case "week":
      return mondayOf(calendar.dayOf(Date.parse(record.ts)));
    case "month":
      return calendar.dayOf(Date.parse(record.ts)).slice(0, 7);
    default:
      return record[grouping];
  }
}

/** True where the names of rows are paths. */
export function isPath(grouping: string): boolean {
  return grouping === "project";
}
