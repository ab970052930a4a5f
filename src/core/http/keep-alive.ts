/**
 * Load balancers close idle connections after 60 s by default, and few do so sooner; the other 10 s cover requests in flight.
 * Long enough to keep a connection while its user thinks for half a minute.
 */
const DEFAULT_MS = 50_000;

/** Network delay: the upstream counts from when it sent its last byte, and our next request takes time to arrive. */
const MARGIN_MS = 2_000;

/** Longer than pauses between prompts. Connections idle for longer are likely to be dead, whatever was announced. */
const MAX_MS = 300_000;

/**
 * Returns how long a connection may be idle and still be reused, in milliseconds; 0 when it must not be reused at all.
 * After that a request could cross with the upstream's close, and a POST must not be sent twice. `keepAlive` is the
 * response's `Keep-Alive` header (RFC 2068 section 19.7.1.1), which overrides the default.
 */
export function parseIdleLimitMs(keepAlive: string | undefined): number {
  if (keepAlive === undefined) return DEFAULT_MS;
  if (/\bmax=0\b/i.test(keepAlive)) return 0;
  const seconds = /\btimeout=(\d+)/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return DEFAULT_MS;
  return Math.min(Math.max(Number(seconds) * 1000 - MARGIN_MS, 0), MAX_MS);
}
