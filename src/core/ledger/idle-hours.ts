import type { Calendar } from "./calendar.ts";
import { timeName } from "./grouping.ts";

const HOUR_MS = 3_600_000;

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
