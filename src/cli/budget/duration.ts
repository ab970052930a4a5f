const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Longer than anyone means: a budget that is never to refuse has a higher limit. */
const LONGEST_MS = 31 * UNITS.d;

/** Parses `30m`, `1h` or `2d` to milliseconds; null for anything else, and for more than 31 days. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  const duration = Number(count) * UNITS[unit as keyof typeof UNITS];
  return duration > 0 && duration <= LONGEST_MS ? duration : null;
}
