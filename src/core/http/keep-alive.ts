/**
 * Load balancers drop connections that were idle for 60 s, by default and at the soonest. 10 s are left for what is under
 * way; and whoever thinks for half a minute between two prompts is spared the three round trips of a new connection.
 */
const USUAL_MS = 50_000;

/** The upstream counts from its last byte, we from when that was here; and what we send has the same way to go. */
const MARGIN_MS = 2_000;

/** Nobody's thinking pause; beyond it, whatever is announced, there are more connections that died unnoticed. */
const LONGEST_MS = 300_000;

/**
 * How long a connection may be idle before a request is no longer safe on it: it could meet the upstream's closing, and
 * a POST must not be sent twice. `keepAlive` is the answer's `Keep-Alive` header (RFC 2068 section 19.7.1.1): what it
 * announces counts. 0: the connection is not to be used again.
 */
export function idleLimitMs(keepAlive: string | undefined): number {
  if (keepAlive === undefined) return USUAL_MS;
  if (/\bmax=0\b/i.test(keepAlive)) return 0;
  const seconds = /\btimeout=(\d+)/i.exec(keepAlive)?.[1];
  if (seconds === undefined) return USUAL_MS;
  return Math.min(Math.max(Number(seconds) * 1000 - MARGIN_MS, 0), LONGEST_MS);
}
