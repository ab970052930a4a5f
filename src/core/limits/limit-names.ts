/** Families of headers that say how much of a limit is used (docs/wire.md section 10). `name` is in lower case. */
const LIMIT_HEADER = /^(?:anthropic-(?:ratelimit|priority)-|x-ratelimit-)|^x-codex-(?:.*-)?used-percent$/;

/** True for the name of a header that may carry a limit. */
export function namesLimit(name: string): boolean {
  return LIMIT_HEADER.test(name);
}

/** The limits of Anthropic's plans by their names in headers, and what we call them. */
export const PLAN_WINDOWS = [
  ["5h", "5h"],
  ["7d", "7d"],
  ["7d_oi", "7d overage-included"],
  ["overage", "overage"],
] as const;

/** Limits that are given as a count and what is left, by what stands before `limit`, and after it. */
export const COUNTED = [
  ["anthropic-ratelimit-requests-", "", "requests"],
  ["anthropic-ratelimit-tokens-", "", "tokens"],
  ["anthropic-ratelimit-input-tokens-", "", "input-tokens"],
  ["anthropic-ratelimit-output-tokens-", "", "output-tokens"],
  ["anthropic-priority-input-tokens-", "", "priority-input-tokens"],
  ["anthropic-priority-output-tokens-", "", "priority-output-tokens"],
  ["x-ratelimit-", "-requests", "requests"],
  ["x-ratelimit-", "-tokens", "tokens"],
  ["x-ratelimit-", "", "requests"],
] as const;

/** The name of what a service only says how long to wait for. */
export const RETRY = "retry";

const FIXED = new Set<string>([
  ...PLAN_WINDOWS.map(([, name]) => name),
  ...COUNTED.map(([, , name]) => name),
  RETRY,
]);
const BY_LENGTH = /^[1-9]\d{0,6}(?:min|h|d)(?: codex[-_][a-z0-9_-]{1,24})?$/;

/** True for a name that a window can have: nothing else is kept. */
export function isWindowName(name: string): boolean {
  return FIXED.has(name) || BY_LENGTH.test(name);
}

/** Names a window by its length, as in `5h` or `7d`. `family` is that of an extra limit of Codex; null where it is not allowed. */
export function nameByLength(minutes: number | null, family: string): string | null {
  if (minutes === null || minutes <= 0 || !Number.isInteger(minutes)) return null;
  const suffix = family === "" || family === "codex" ? "" : ` ${family}`;
  const name = `${formatLength(minutes)}${suffix}`;
  return isWindowName(name) ? name : null;
}

function formatLength(minutes: number): string {
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}min`;
}

const UNIT_MS = { min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns how long a window is, in milliseconds; null where its name does not say, and for one that only some of an account's models have. */
export function lengthOf(name: string): number | null {
  const [, count, unit] = /^(\d+)(min|h|d)$/.exec(name) ?? [];
  return count === undefined ? null : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** Writes a window's name for people: `the 5-hour window`, `the limit of requests`. */
export function describeWindow(name: string): string {
  if (name === RETRY) return "the service";
  const [, count, unit, family] = /^(\d+)(min|h|d)(?: (.+))?$/.exec(name) ?? [];
  if (count === undefined)
    return `the limit of ${name === "overage" ? "extra usage" : name.replaceAll("-", " ")}`;
  const length = unit === "h" ? "hour" : unit === "d" ? "day" : "minute";
  return `the ${count}-${length} window${family === undefined ? "" : ` (${family})`}`;
}
