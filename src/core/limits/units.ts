/** A reset further away than this is no reset. */
const FURTHEST_MS = 400 * 24 * 3600 * 1000;
/** Numbers below are seconds from now, those below the next are seconds since 1970, and others milliseconds since then. */
const FIRST_EPOCH_S = 1e9;
const FIRST_EPOCH_MS = 1e11;

const NUMBER = /^\d{1,15}(?:\.\d{1,15})?$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const DURATION = /^(?:\d{1,15}(?:\.\d{1,15})?(?:ns|us|µs|ms|s|m|h|d))+$/;
const DURATION_PART = /([\d.]+)([a-zµ]+)/g;
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads a number that is not negative, of a header or an event. Returns null for anything else: `""`, `-1`, `unlimited`. */
export function readNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? Math.abs(value) : null;
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : null;
}

/**
 * Reads when something resets, in milliseconds since 1970: a number of seconds from now, seconds or milliseconds since 1970, an ISO 8601
 * time, or a duration of Go (`6m0s`, `120ms`). Returns null for anything else, and for a time that is not in the future of `now`.
 */
export function readReset(value: unknown, now: number): number | null {
  const at = readMoment(value, now);
  return at !== null && at > now && at - now <= FURTHEST_MS ? Math.round(at) : null;
}

function readMoment(value: unknown, now: number): number | null {
  const number = readNumber(value);
  if (number !== null) {
    if (number < FIRST_EPOCH_S) return now + number * 1000;
    return number < FIRST_EPOCH_MS ? number * 1000 : number;
  }
  if (typeof value !== "string") return null;
  if (ISO.test(value)) return Date.parse(value);
  if (DURATION.test(value)) {
    let ms = 0;
    for (const [, count, unit = ""] of value.matchAll(DURATION_PART))
      ms += Number(count) * (UNIT_MS[unit] ?? NaN);
    return now + ms;
  }
  return null;
}

/** Reads `retry-after`: seconds, or a date of HTTP (RFC 9110 section 10.2.3). In milliseconds since 1970; null for anything else. */
export function readRetryAfter(value: string, now: number): number | null {
  return readReset(/^[A-Z][a-z]{2}, \d\d /.test(value) ? Date.parse(value) : value, now);
}
