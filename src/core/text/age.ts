const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats how long ago `at` was: `3 s ago`, `5 min ago`, `2 h ago`, `4 days ago`. Both times in ms since 1970. */
export function formatAge(at: number, now: number): string {
  const age = now - at;
  // The clock was set back. Small corrections count as now.
  if (age < -SECOND) return "in the future, by this clock";
  if (age < SECOND) return "just now";
  if (age < MINUTE) return `${Math.floor(age / SECOND)} s ago`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < 2 * DAY) return `${Math.floor(age / HOUR)} h ago`;
  return `${Math.floor(age / DAY)} days ago`;
}
