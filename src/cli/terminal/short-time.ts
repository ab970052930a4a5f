import { describeTime } from "../../core/budget/describe-time.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";

/** Writes a time to the second by the local clock, as all that a person reads: `2026-12-01 15:00:07`. `ts` is ISO 8601. */
export function localTime(ts: string): string {
  const time = new Date(ts);
  return `${localCalendar().dayOf(time.getTime())} ${time.toTimeString().slice(0, 8)}`;
}

/** Writes a later time without prepositions: `15:00`, `tomorrow, 00:00`, `Monday 2026-12-01, 00:00`. Both in ms since 1970. */
export function shortTime(time: number, now: number): string {
  const text = describeTime(time, now, localCalendar());
  return text.replace(/^(?:at|on) /, "").replace(" at ", ", ");
}

/** Writes it for a table: without the day of the week. */
export function timeInTable(time: number, now: number): string {
  return shortTime(time, now).replace(/^\w+day /, "");
}
