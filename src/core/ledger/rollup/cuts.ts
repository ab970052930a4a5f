import type { Calendar } from "../calendar.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** Clocks are ahead of UTC by whole quarters of an hour. */
const STEPS = [HOUR_MS, HOUR_MS / 2, HOUR_MS / 4];

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
  return insideOf(day, midnightsAround(day, calendar));
}

/**
 * Returns where a UTC day is divided to have all hours of a time zone, and these cuts: each hour, half or quarter of one. null where none
 * of them will do.
 */
export function hoursIn(day: string, calendar: Calendar, cuts: readonly number[]): number[] | null {
  const times = [...midnightsAround(day, calendar), ...cuts];
  const step = STEPS.find((one) => times.every((time) => time % one === 0));
  if (step === undefined) return null;
  const { from } = spanOf(day);
  return Array.from({ length: DAY_MS / step - 1 }, (_, at) => from + (at + 1) * step);
}

/** Returns the midnights of a time zone inside a UTC day, and those before and after it. */
function midnightsAround(day: string, calendar: Calendar): number[] {
  const first = calendar.dayOf(spanOf(day).from);
  return [0, 1, 2].map((offset) => calendar.startOf(first, offset));
}

/** Returns which of these times are inside a UTC day. */
export function insideOf(day: string, times: readonly (number | null)[]): number[] {
  const { from, to } = spanOf(day);
  return times.filter((time) => time !== null && time > from && time < to) as number[];
}
