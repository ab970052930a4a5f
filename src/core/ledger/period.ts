import { Failure } from "../failure.ts";
import { addDays, mondayOf, monthStart, type Calendar } from "./calendar.ts";

const HOUR_MS = 60 * 60 * 1000;
const MAX_DAYS = 36_500;

/** The time that a report covers. Both are wall times in milliseconds since 1970. */
export interface Period {
  since: number;
  /** The first moment after it; null for a period that lasts until now. */
  until: number | null;
  /** The period in words, for a title, e.g. `2026-10-24 to 2026-11-22`. */
  title: string;
}

/** Days, the last one included. */
interface Days {
  first: string;
  last: string;
}

/** What a person writes for a period, as the days that it covers. `today` is the present day. */
const WORDS: Readonly<Record<string, (today: string) => Days>> = {
  today: (today) => ({ first: today, last: today }),
  yesterday: (today) => ({ first: addDays(today, -1), last: addDays(today, -1) }),
  "this week": (today) => ({ first: mondayOf(today), last: today }),
  "last week": (today) => ({ first: addDays(mondayOf(today), -7), last: addDays(mondayOf(today), -1) }),
  "this month": (today) => ({ first: monthStart(today), last: today }),
  "last month": (today) => ({ first: monthStart(today, -1), last: addDays(monthStart(today), -1) }),
  "this year": (today) => ({ first: yearStart(today), last: today }),
  "last year": (today) => ({
    first: yearStart(addDays(yearStart(today), -1)),
    last: addDays(yearStart(today), -1),
  }),
};

/**
 * Parses a period that starts where `since` does, and lasts until now or, with `until`, to the end of that. Each is a word
 * (`yesterday`, `last week`), a day, month or year (`2026-11-01`, `2026-11`, `2026`), or a span until now: `7d` and `2w` in
 * days of the calendar, today included, `24h` to the millisecond. Weeks begin on Monday. Throws a Failure for any other text.
 */
export function parsePeriod(
  texts: { since: string; until: string | undefined },
  now: number,
  calendar: Calendar,
): Period {
  const { since, until } = texts;
  const today = calendar.dayOf(now);
  const hours = parseHours(since);
  const first =
    hours === null ? parseDays("since", since, today).first : calendar.dayOf(now - hours * HOUR_MS);
  const last = until === undefined ? null : parseDays("until", until, today).last;
  const from = hours === null ? calendar.startOf(first) : now - hours * HOUR_MS;
  const to = last === null || last >= today ? null : calendar.startOf(last, 1);
  if (to !== null && to <= from)
    throw unreadable("until", until ?? "", `it is before --since ${JSON.stringify(since)}`);
  if (to === null && hours !== null)
    return { since: from, until: to, title: `last ${hours} hour${hours === 1 ? "" : "s"}` };
  const end = to === null || last === null ? today : last;
  return { since: from, until: to, title: first >= end ? end : `${first} to ${end}` };
}

function parseHours(text: string): number | null {
  const digits = /^(\d{1,6})h$/.exec(text)?.[1];
  if (digits === undefined) return null;
  if (Number(digits) > MAX_DAYS * 24) throw tooLong("since", text);
  return Number(digits);
}

function parseDays(option: Option, text: string, today: string): Days {
  const word = Object.hasOwn(WORDS, text.toLowerCase()) ? WORDS[text.toLowerCase()] : undefined;
  if (word !== undefined) return word(today);
  const [, count, unit] = /^(\d{1,6})([dw])$/.exec(text) ?? [];
  if (count !== undefined) return parseSpan(option, text, Number(count) * (unit === "w" ? 7 : 1), today);
  const [, year, month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? [];
  if (year === undefined) throw unreadable(option, text, "it is neither a time span nor a date");
  const first = `${year}-${month ?? "01"}-${day ?? "01"}`;
  // Refuses days like February 30, which Date reads as March 1 or 2.
  if (Number.isNaN(Date.parse(first)) || addDays(first, 0) !== first)
    throw unreadable(option, text, `there is no such ${day === undefined ? "month" : "day"}`);
  if (day !== undefined) return { first, last: first };
  return { first, last: addDays(monthStart(first, month === undefined ? 12 : 1), -1) };
}

function parseSpan(option: Option, text: string, days: number, today: string): Days {
  if (days === 0) throw unreadable(option, text, "a period has at least one day");
  if (days > MAX_DAYS) throw tooLong(option, text);
  return { first: addDays(today, 1 - days), last: today };
}

function yearStart(day: string): string {
  return `${day.slice(0, 4)}-01-01`;
}

type Option = "since" | "until";

function tooLong(option: Option, text: string): Failure {
  return unreadable(option, text, "it is more than 100 years long");
}

function unreadable(option: Option, text: string, reason: string): Failure {
  return new Failure(
    `cannot read --${option} ${JSON.stringify(text)}: ${reason}`,
    'use today, yesterday, "last week", 24h, 7d, 2026-11 or a date such as 2026-11-01',
  );
}
