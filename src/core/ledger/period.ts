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

/** A moment with its offset from UTC, to the minute or finer (RFC 3339 section 5.6). */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

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
 * days of the calendar, today included, `24h` to the millisecond. Weeks begin on Monday. Either may also be a moment, such as
 * `2026-11-01T09:30Z`: the period starts at it, or ends before it. Throws a Failure for any other text.
 */
export function parsePeriod(
  texts: { since: string; until: string | undefined },
  now: number,
  calendar: Calendar,
): Period {
  const { since, until } = texts;
  const today = calendar.dayOf(now);
  const hours = parseHours(since);
  const from = hours === null ? startOf(since, today, calendar) : now - hours * HOUR_MS;
  const to = until === undefined ? null : endOf(until, today, calendar);
  if (to !== null && to <= from)
    throw unreadable("until", until ?? "", `it is before --since ${JSON.stringify(since)}`);
  const end = to === null || to > now ? null : to;
  if (end === null && hours !== null)
    return { since: from, until: end, title: hours === 1 ? "the last hour" : `the last ${hours} hours` };
  return { since: from, until: end, title: titleOf(texts, { since: from, until: end ?? now + 1 }, calendar) };
}

/** Returns where the period that a text names starts. */
function startOf(since: string, today: string, calendar: Calendar): number {
  return parseMoment("since", since) ?? calendar.startOf(parseDays("since", since, today).first);
}

/** Returns the first moment after the period that a text names. */
function endOf(until: string, today: string, calendar: Calendar): number {
  return parseMoment("until", until) ?? calendar.startOf(parseDays("until", until, today).last, 1);
}

/** The days, and moments as they are written. */
function titleOf(
  texts: { since: string; until: string | undefined },
  { since, until }: { since: number; until: number },
  calendar: Calendar,
): string {
  const first = MOMENT.test(texts.since) ? texts.since : calendar.dayOf(since);
  const isMoment = texts.until !== undefined && MOMENT.test(texts.until);
  const last = isMoment ? (texts.until ?? "") : calendar.dayOf(until - 1);
  return first === last ? last : `${first} to ${last}`;
}

/** Returns null for a text that is no moment. */
function parseMoment(option: Option, text: string): number | null {
  if (!MOMENT.test(text)) return null;
  parseDays(option, text.slice(0, "YYYY-MM-DD".length), "");
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw unreadable(option, text, "there is no such moment");
  return time;
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
    'use today, yesterday, "last week", 24h, 7d, 2026-11, a date such as 2026-11-01 or a moment such as 2026-11-01T09:30Z',
  );
}
