import { Failure } from "../failure.ts";
import type { Calendar } from "./calendar.ts";

const HOUR_MS = 60 * 60 * 1000;
const MAX_DAYS = 36_500;

/** The time that a report covers: from `since` until now. */
export interface Period {
  /** Wall time in milliseconds since 1970. */
  since: number;
  /** The period in words, for a title, e.g. `2026-10-24 to 2026-11-22`. */
  title: string;
}

/**
 * Parses the start of a period: `today`, `7d` (today and the six days before), `24h` (to the millisecond) or a day
 * (`2026-11-01`). Throws a Failure for any other text.
 */
export function parsePeriod(text: string, now: number, calendar: Calendar): Period {
  const today = calendar.dayOf(now);
  if (text === "today") return startingOn(today, today, calendar);
  const [, digits, unit] = /^(\d{1,6})([dh])$/.exec(text) ?? [];
  if (digits === undefined) return startingOn(parseDay(text, calendar), today, calendar);
  const count = Number(digits);
  if (count > MAX_DAYS * (unit === "h" ? 24 : 1)) throw unreadable(text, "it is more than 100 years long");
  if (unit === "h")
    return { since: now - count * HOUR_MS, title: `last ${count} hour${count === 1 ? "" : "s"}` };
  if (count === 0) throw unreadable(text, "a period has at least one day");
  return startingOn(calendar.dayOf(calendar.startOf(today, 1 - count)), today, calendar);
}

function startingOn(day: string, today: string, calendar: Calendar): Period {
  const title = day === today ? today : `${day} to ${today}`;
  return { since: calendar.startOf(day), title };
}

/** Refuses days like February 30, which Date reads as March 1 or 2. */
function parseDay(text: string, calendar: Calendar): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) throw unreadable(text, "it is neither a time span nor a date");
  const start = calendar.startOf(text);
  if (Number.isNaN(start) || calendar.dayOf(start) !== text) throw unreadable(text, "there is no such day");
  return text;
}

function unreadable(text: string, reason: string): Failure {
  return new Failure(
    `cannot read --since ${JSON.stringify(text)}: ${reason}`,
    "use today, 24h, 7d or a date such as 2026-11-01",
  );
}
