/** The day after which each line of Node's releases gets no security fixes (nodejs/Release, schedule.json). */
const END_OF_LIFE: Readonly<Record<number, string>> = {
  20: "2026-04-30",
  21: "2024-06-01",
  22: "2027-04-30",
  23: "2025-06-01",
  24: "2028-04-30",
  25: "2026-06-01",
  26: "2029-04-30",
};

/**
 * Says that a version of Node gets no security fixes any more, and which do; null for one that does, and for a line that is newer
 * than this table. `version` is Node's, such as `20.20.2`; `now` is in milliseconds since 1970.
 */
export function explainUnmaintainedNode(version: string, now: number): string | null {
  const lastDay = END_OF_LIFE[Number.parseInt(version, 10)];
  if (lastDay === undefined || !isPast(lastDay, now)) return null;
  // Lines with an odd number are maintained for half a year only.
  const maintained = Object.entries(END_OF_LIFE)
    .filter(([line, last]) => Number(line) % 2 === 0 && !isPast(last, now))
    .map(([line]) => line);
  const advice = maintained.length === 0 ? "a later one" : `Node ${joinWithOr(maintained)}`;
  return `Node ${version} has had no security fixes since ${lastDay}; use ${advice}`;
}

function isPast(day: string, now: number): boolean {
  const dayMs = 24 * 60 * 60 * 1000;
  return now >= Date.parse(day) + dayMs;
}

function joinWithOr(words: readonly string[]): string {
  return [words.slice(0, -1).join(", "), words.at(-1)].filter((part) => part !== "").join(" or ");
}
