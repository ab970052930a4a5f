import type { Step } from "./times.ts";
import { dateFormat } from "./numbers.ts";

const HOUR = dateFormat({ hour: "numeric" });
const DAY = dateFormat({ month: "short", day: "numeric" });
const WHOLE_HOUR = dateFormat({
  weekday: "short",
  month: "short",
  day: "numeric",
  hour: "numeric",
});
const WHOLE_DAY = dateFormat({
  weekday: "short",
  year: "numeric",
  month: "short",
  day: "numeric",
});

/** Returns a time of a report, such as `2026-11-19` or `2026-11-19 14:00`, as an axis shows it to this reader. */
export function nameBriefly(time: string, step: Step): string {
  return (step === "hour" ? HOUR : DAY).format(dateOf(time));
}

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

/** Returns how an axis names the hour, day or week that is not over: `now`, `today` or `this week`, in the reader's language. */
export function nameNow(step: Step): string {
  return RELATIVE.format(0, step === "hour" ? "second" : step);
}

/** Returns a time of a report as this reader writes it. */
export function nameWholly(time: string, step: Step): string {
  if (step === "hour") return WHOLE_HOUR.format(dateOf(time));
  return `${step === "week" ? "week of " : ""}${WHOLE_DAY.format(dateOf(time))}`;
}

function dateOf(time: string): Date {
  // A date alone would be read in UTC.
  return new Date(time.includes(" ") ? time.replace(" ", "T") : `${time}T00:00`);
}
