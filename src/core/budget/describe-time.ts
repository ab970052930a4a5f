import type { Calendar } from "../ledger/calendar.ts";

/** Writes a later time as people say it: `at 15:00`, `tomorrow at 00:00`, `on Monday 2026-12-01 at 00:00`. Both in milliseconds since 1970. */
export function describeTime(time: number, wall: number, calendar: Calendar): string {
  const day = calendar.dayOf(time);
  const today = calendar.dayOf(wall);
  const zone = { timeZone: calendar.zone };
  const clock = new Intl.DateTimeFormat("en-GB", { ...zone, hour: "2-digit", minute: "2-digit" }).format(
    time,
  );
  if (day === today) return `at ${clock}`;
  if (calendar.startOf(day) === calendar.startOf(today, 1)) return `tomorrow at ${clock}`;
  const weekday = new Intl.DateTimeFormat("en-GB", { ...zone, weekday: "long" }).format(time);
  return `on ${weekday} ${day} at ${clock}`;
}
