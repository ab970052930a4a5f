import { Failure } from "../failure.ts";
import { DAY_MS, dayAt } from "./day.ts";

const HOUR_MS = DAY_MS / 24;
const MAX_DAYS = 36_500;

/**
 * Parses the start of a period: `today`, `7d` (from 00:00 seven days ago), `24h` (to the millisecond) or a day (`2026-11-01`).
 * Days are UTC, as in the ledger. Returns an ISO 8601 time in UTC; throws a Failure for any other text.
 */
export function parseSince(text: string, now: number): string {
  if (text === "today") return startOf(dayAt(now));
  const [, digits, unit] = /^(\d{1,6})([dh])$/.exec(text) ?? [];
  if (digits !== undefined) {
    const span = Number(digits) * (unit === "h" ? HOUR_MS : DAY_MS);
    if (span > MAX_DAYS * DAY_MS) throw unreadable(text, "it reaches further back than 100 years");
    return unit === "h" ? new Date(now - span).toISOString() : startOf(dayAt(now - span));
  }
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) throw unreadable(text, "it is neither a span nor a day");
  if (!isCalendarDay(text)) throw unreadable(text, "there is no such day");
  return startOf(text);
}

function startOf(day: string): string {
  return `${day}T00:00:00.000Z`;
}

/** False for days like February 30, which Date reads as March 1 or 2. */
function isCalendarDay(day: string): boolean {
  const time = Date.parse(startOf(day));
  return !Number.isNaN(time) && dayAt(time) === day;
}

function unreadable(text: string, reason: string): Failure {
  return new Failure(
    `cannot read --since ${JSON.stringify(text)}: ${reason}`,
    "use today, 24h, 7d or a day like 2026-11-01",
  );
}
