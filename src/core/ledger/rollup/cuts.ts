import type { Calendar } from "../calendar.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A time from `from` up to `to`, in milliseconds since 1970. */
interface Span {
  from: number;
  to: number;
}

/** Returns the time that a UTC day covers. */
export function spanOf(day: string): Span {
  const from = Date.parse(day);
  return { from, to: from + DAY_MS };
}

/** Returns the midnights of a time zone inside a UTC day, in milliseconds since 1970. */
export function midnightsIn(day: string, calendar: Calendar): number[] {
  const { from, to } = spanOf(day);
  const starts = [0, 1, 2].map((offset) => calendar.startOf(calendar.dayOf(from), offset));
  return starts.filter((start) => start > from && start < to);
}

/** Returns which of these times are inside a UTC day. */
export function insideOf(day: string, times: readonly (number | null)[]): number[] {
  const { from, to } = spanOf(day);
  return times.filter((time) => time !== null && time > from && time < to) as number[];
}
