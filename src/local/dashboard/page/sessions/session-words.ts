import { formatNear, formatTimeOfDay, nearParts } from "../numbers.ts";
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
  return new Intl.NumberFormat(undefined, { style: "unit", unit, unitDisplay: "short" }).format(count);
}

/** Returns when a session was last used, from the text of {@link ListedSession}: the day, and the time of day if that is known. */
export function formatLastUsed(lastUsed: string): readonly [day: string, time: string] {
  if (lastUsed === "") return ["", ""];
  return lastUsed.includes(" ") ? nearParts(lastUsed.replace(" ", "T")) : [nameBriefly(lastUsed, "day"), ""];
}

/** Returns a time as {@link formatNear}, from one moment to another. */
export function formatFromTo(from: string, to: string): string {
  if (from === to) return formatNear(from);
  const isSameDay = new Date(from).toDateString() === new Date(to).toDateString();
  return `${formatNear(from)} to ${isSameDay ? formatTimeOfDay(to) : formatNear(to)}`;
}

/** Returns what a session is, in words: which tools, in which projects, on which branches, when. */
export function describeSession(names: {
  tools: readonly string[];
  projects: readonly string[];
  branches: readonly string[];
  when: string;
}): string {
  const { tools, projects, branches, when } = names;
  const where = projects.length === 0 ? ", no project named" : ` in ${projects.join(", ")}`;
  const which = branches.length === 0 ? "" : ` on ${branches.join(", ")}`;
  return `${tools.join(", ")}${where}${which}, ${when}`;
}
