import type { Step } from "./times.ts";

const HOUR = new Intl.DateTimeFormat(undefined, { hour: "numeric" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const WHOLE_HOUR = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  month: "short",
  day: "numeric",
  hour: "numeric",
});
const WHOLE_DAY = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  year: "numeric",
  month: "short",
  day: "numeric",
});

/** Returns a time of a report, such as `2026-11-19` or `2026-11-19 14:00`, as an axis shows it to this reader. */
export function nameBriefly(time: string, step: Step): string {
  return (step === "hour" ? HOUR : DAY).format(dateOf(time));
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
