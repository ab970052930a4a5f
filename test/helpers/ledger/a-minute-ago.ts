const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Returns when a record of today may have begun, in milliseconds: a minute ago, but not before today did in UTC. Within a minute after
 * midnight, a minute ago is yesterday.
 */
export function aMinuteAgoToday(): number {
  const now = Date.now();
  return Math.max(now - 60_000, now - (now % DAY_MS));
}
