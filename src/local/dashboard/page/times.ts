/** A part of time, as a report covers it. */
export interface Span {
  from: Date;
  /** The first moment after it: now, where it lasts until now. */
  to: Date;
  isUntilNow: boolean;
  /** Whether it is a month of the calendar, or what is over of one. */
  isMonth: boolean;
  /** What a bar of its chart stands for. */
  step: Step;
}

/** What the bars of a chart stand for, and what reports are grouped by for it. */
export type Step = "hour" | "day" | "week";

/** What reports take for the start and the end of a span. */
export interface SpanQuery {
  since: string;
  until?: string | undefined;
}

const HOUR_MS = 60 * 60 * 1_000;
/** A chart by hour has at most so many hours: two days, of which one may have 25. */
const MOST_HOURS = 49;
/** A chart by day has at most so many days: a year of days would be too thin to tell apart. */
const MOST_DAYS = 120;
/** A chart has at most so many bars. */
const MOST_TIMES = 1_000;

/** The time zone in which the reader counts days. */
export const TIME_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the local day of a time, as `YYYY-MM-DD`. */
export function dayOf(time: Date): string {
  return [time.getFullYear(), pad(time.getMonth() + 1), pad(time.getDate())].join("-");
}

/** Returns the start of the local day so many days after that of a time. */
export function startOfDay(time: Date, offset = 0): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + offset);
}

/** Returns a span as reports take it: months become their days. */
export function daysOf({ since, until }: SpanQuery, now = new Date()): SpanQuery {
  const monthBegan = (offset: number, day = 1) =>
    dayOf(new Date(now.getFullYear(), now.getMonth() + offset, day));
  if (since === "month") return { since: monthBegan(0) };
  // Day 0 is the last one of the month before.
  if (since === "last-month") return { since: monthBegan(-1), until: monthBegan(0, 0) };
  return { since, until };
}

/** Returns the span that `since` and `until` name: `today`, `7d`, `month`, `last-month`, days, or moments. */
export function spanOf(query: SpanQuery, now = new Date()): Span {
  const { since, until } = daysOf(query, now);
  const from = startOf(since, now);
  const end = until === undefined ? now : endOf(until);
  const isUntilNow = end >= now;
  const to = isUntilNow ? now : end;
  const isMonth = query.since === "month" || query.since === "last-month";
  return { from, to, isUntilNow, isMonth, step: stepOf(from, to) };
}

function stepOf(from: Date, to: Date): Step {
  if (to.getTime() - from.getTime() <= MOST_HOURS * HOUR_MS) return "hour";
  return countDays({ from, to }) <= MOST_DAYS ? "day" : "week";
}

function startOf(since: string, now: Date): Date {
  if (since === "today") return startOfDay(now);
  const days = /^(\d+)d$/.exec(since)?.[1];
  return days === undefined ? parseTime(since) : startOfDay(now, 1 - Number(days));
}

function endOf(until: string): Date {
  return isDay(until) ? startOfDay(parseTime(until), 1) : parseTime(until);
}

function parseTime(text: string): Date {
  // A date alone would be read in UTC.
  return new Date(isDay(text) ? `${text}T00:00` : text);
}

/** Returns true for a day such as `2026-11-01`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && dayOf(new Date(`${text}T00:00`)) === text;
}

/** Returns true for a moment as {@link zoomInto} writes it. */
export function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Returns the days that a span touches. */
function countDays({ from, to }: Pick<Span, "from" | "to">): number {
  const last = startOfDay(new Date(to.getTime() - 1));
  // Days are as long as 25 hours.
  return Math.round((last.getTime() - startOfDay(from).getTime()) / (24 * HOUR_MS)) + 1;
}

/**
 * Returns the same hours of as many days before, so that a span until now is compared with one until the same time of day. Before a month
 * is the month before it, until the same day.
 */
export function spanBefore(span: Span): { since: string; until: string } {
  if (span.isMonth)
    return { since: monthBefore(span.from).toISOString(), until: monthBefore(span.to).toISOString() };
  const days = countDays(span);
  return { since: shifted(span.from, days).toISOString(), until: shifted(span.to, days).toISOString() };
}

/** The same time of day, so many days earlier. */
function shifted(time: Date, days: number): Date {
  const earlier = new Date(time);
  earlier.setDate(earlier.getDate() - days);
  return earlier;
}

/** The same time a month earlier; the end of that month, if it has no such day. */
function monthBefore(time: Date): Date {
  const earlier = new Date(time);
  earlier.setMonth(earlier.getMonth() - 1);
  return earlier.getDate() === time.getDate() ? earlier : new Date(time.getFullYear(), time.getMonth(), 1);
}

/** Returns what {@link spanBefore} is, in words. */
export function describeBefore(span: Span): string {
  if (span.isMonth) {
    const month = monthBefore(span.from).toLocaleDateString(undefined, { month: "long" });
    return span.isUntilNow ? `${month}, until the same day` : month;
  }
  const days = countDays(span);
  if (days > 1) return `the ${days} days before`;
  return span.isUntilNow ? "yesterday by this time" : "the day before";
}

/** The same, and until when: `the 30 days before, until this time`. */
export function describeBeforeByNow(span: Span): string {
  const isSaid = span.isMonth || !span.isUntilNow || countDays(span) === 1;
  return `${describeBefore(span)}${isSaid ? "" : ", until this time"}`;
}

/** Returns the names of all hours, days or weeks of a span, as reports name them, so that those without requests are gaps. */
export function timesIn({ from, to, step }: Span): string[] {
  const names: string[] = [];
  for (let at = step === "week" ? mondayOf(from) : from; at < to && names.length < MOST_TIMES;) {
    const name = step === "hour" ? `${dayOf(at)} ${pad(at.getHours())}:00` : dayOf(at);
    // The two hours of the same name when clocks go back are one.
    if (names.at(-1) !== name) names.push(name);
    at = step === "hour" ? new Date(at.getTime() + HOUR_MS) : startOfDay(at, step === "week" ? 7 : 1);
  }
  return names;
}

function mondayOf(time: Date): Date {
  return startOfDay(time, -((time.getDay() + 6) % 7));
}

/** Returns the part of a span from one of {@link timesIn} to another, both included. */
export function zoomInto({ from, step }: Span, first: string, last: string): SpanQuery {
  if (step === "week") {
    const start = dayOf(from);
    return { since: first < start ? start : first, until: dayOf(startOfDay(parseTime(last), 6)) };
  }
  if (step === "day") return { since: first, until: last };
  const end = new Date(hourOf(last).getTime() + HOUR_MS);
  return { since: hourOf(first).toISOString(), until: end.toISOString() };
}

function hourOf(name: string): Date {
  return new Date(name.replace(" ", "T"));
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
