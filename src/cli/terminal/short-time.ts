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

/** Writes it for a table, in few characters: `15:00`, `tomorrow, 00:00`, `Dec 01, 00:00`, or `2027-01-03, 00:00` in another year. */
export function timeInTable(time: number, now: number): string {
  const text = shortTime(time, now).replace(/^\w+day /, "");
  const calendar = localCalendar();
  const isThisYear = calendar.dayOf(time).slice(0, 4) === calendar.dayOf(now).slice(0, 4);
  return isThisYear && /^\d+-/.test(text) ? shortDay(text) : text;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Returns e.g. `Nov 24 09:14` of `2026-11-24 09:14`. */
export function shortDay(day: string): string {
  const [, month = "", rest = ""] = /^\d+-(\d\d)-(.*)$/.exec(day) ?? [];
  return `${MONTHS[Number(month) - 1] ?? ""} ${rest}`.trim();
}
