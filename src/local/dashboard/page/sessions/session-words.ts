import { dateFormat, formatNear, formatTimeOfDay, nameToday, nearParts, numberFormat } from "../numbers.ts";
import { nameBriefly } from "../time-names.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns how long something lasted, to the minute: `12 min`, `3 hr, 5 min`; from two days on, `4 days`. */
export function formatLength(ms: number): string {
  if (ms < MINUTE_MS) return inUnit(Math.round(ms / 1_000), "second");
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 60) return inUnit(minutes, "minute");
  if (ms >= 2 * DAY_MS) return inUnit(Math.round(ms / DAY_MS), "day");
  const hours = inUnit(Math.floor(minutes / 60), "hour");
  return minutes % 60 === 0 ? hours : `${hours}, ${inUnit(minutes % 60, "minute")}`;
}

function inUnit(count: number, unit: "second" | "minute" | "hour" | "day"): string {
  return numberFormat({ style: "unit", unit, unitDisplay: "short" }).format(count);
}

const HOUR = dateFormat({ hour: "numeric" });

/** Returns when a session was last used, from the text of {@link ListedSession}: the day, and the time of day if that is known, or its hour: `4 – 5 PM`. */
export function formatLastUsed(lastUsed: string): readonly [day: string, time: string] {
  if (lastUsed === "") return ["", ""];
  if (!lastUsed.includes(" ")) return [nameBriefly(lastUsed, "day"), ""];
  const moment = lastUsed.replace(" ", "T");
  const [day, time] = nearParts(moment);
  if (lastUsed.length > "2026-11-19 14:00".length) return [day, time];
  return [day, formatHour(new Date(moment))];
}

function formatHour(start: Date): string {
  const end = new Date(start.getTime() + HOUR_MS);
  // A range over midnight would have both dates.
  if (end.getDate() !== start.getDate()) return `${HOUR.format(start)} – ${HOUR.format(end)}`;
  return HOUR.formatRange(start, end);
}

/** Returns a time as {@link formatNear}, from one moment to another; also a day that is today is named. */
export function formatFromTo(from: string, to: string): string {
  if (from === to) return withDay(from);
  const isSameDay = new Date(from).toDateString() === new Date(to).toDateString();
  return `${withDay(from)} to ${isSameDay ? formatTimeOfDay(to) : withDay(to)}`;
}

function withDay(iso: string): string {
  const [day, time] = nearParts(iso);
  return day === "" ? `${nameToday()}, ${time}` : formatNear(iso);
}

/** Returns what a session is, in words: which tools, in which projects, and then on which branches, and when. */
export function describeSession(names: {
  tools: readonly string[];
  projects: readonly string[];
  branches: readonly string[];
  when: string;
}): readonly [name: string, rest: string] {
  const { tools, projects, branches, when } = names;
  const where = projects.length === 0 ? ", no project named" : ` in ${projects.join(", ")}`;
  const which = branches.length === 0 ? "" : ` on ${branches.join(", ")}`;
  return [`${tools.join(", ")}${where}`, `${which}, ${when}`];
}
