import type { HeaderIndex } from "../http/header-index.ts";
import type { JsonObject } from "../json.ts";
import { asObject, asText } from "../usage/fields.ts";
import { COUNTED, nameByLength, PLAN_WINDOWS, RETRY } from "./limit-names.ts";
import { readNumber, readReset, readRetryAfter } from "./units.ts";

/** What a service has said of one limit of an account. */
export interface WindowReading {
  /** By its length, such as `5h`; else what it counts, such as `requests`. */
  window: string;
  /** May be over 100; null where a service only says how long to wait. */
  usedPercent: number | null;
  /** The count that is allowed, and what is left of it; null where only a share is known. */
  limit: number | null;
  remaining: number | null;
  /** In milliseconds since 1970; null where that is not known. */
  resetsAt: number | null;
}

/** The status of a request that a limit has refused. */
const TOO_MANY = 429;
/** More than this many times the limit is another unit than we take it for. */
const MOST_PERCENT = 1000;
const CODEX = /^x-(codex(?:-[a-z0-9-]{1,24})?)-(primary|secondary)-used-percent$/;

/** True for a response that says something of limits. Costs no allocation. */
export function hasLimits(status: number, headers: HeaderIndex): boolean {
  if (status === TOO_MANY) return true;
  const { lines } = headers;
  for (let i = 0; i < lines.length; i += 1) if (lines[i]?.policy.namesLimit === true) return true;
  return false;
}

/**
 * True for the headers of a response with a figure for each limit for which an earlier response had one: then the earlier one says nothing
 * more. A refusal always does: how long to wait.
 */
export function repeatsLimits(
  headers: HeaderIndex,
  { headers: earlier, status }: { headers: HeaderIndex; status: number },
): boolean {
  if (status === TOO_MANY) return false;
  const { lines } = earlier;
  for (let i = 0; i < lines.length; i += 1) {
    const policy = lines[i]?.policy;
    if (policy?.namesLimit !== true) continue;
    // Mostly the lines are the same, in the same order.
    if (headers.lines[i]?.policy !== policy && !headers.has(policy.name)) return false;
    if (policy.name.startsWith("x-codex-") && !hasSameLength(policy.name, headers, earlier)) return false;
  }
  return true;
}

/** Codex's windows are named by their lengths, and may change places. */
function hasSameLength(percent: string, headers: HeaderIndex, earlier: HeaderIndex): boolean {
  const minutes = percent.replace("used-percent", "window-minutes");
  return headers.get(minutes) === earlier.get(minutes);
}

/** Reads what a response says of limits, by the table in docs/wire.md section 10. `now` in milliseconds since 1970. */
export function readLimits(status: number, headers: HeaderIndex, now: number): WindowReading[] {
  const found = [...readPlan(headers, now), ...readCodex(headers, now), ...readCounts(headers, now)];
  const retry = status === TOO_MANY ? readRetry(headers, now) : null;
  return retry === null ? found : [...found, share(RETRY, null, retry)];
}

/** Reads the event `codex.rate_limits` of a WebSocket. */
export function readLimitEvent(fields: JsonObject, now: number): WindowReading[] {
  const limits = asObject(fields["rate_limits"]);
  const family = asText(fields["metered_limit_name"]) ?? asText(fields["limit_name"]) ?? "";
  return ["primary", "secondary"].flatMap((position) => {
    const window = asObject(limits[position]);
    const name = nameByLength(readNumber(window["window_minutes"]), family);
    const percent = readPercent(window["used_percent"], 1);
    const reset = readReset(window["reset_at"], now) ?? readReset(window["reset_after_seconds"], now);
    return name === null || percent === null ? [] : [share(name, percent, reset)];
  });
}

function readPlan(headers: HeaderIndex, now: number): WindowReading[] {
  return PLAN_WINDOWS.flatMap(([key, name]) => {
    const prefix = `anthropic-ratelimit-unified-${key}`;
    const percent = readPercent(headers.get(`${prefix}-utilization`), 100);
    return percent === null ? [] : [share(name, percent, readReset(headers.get(`${prefix}-reset`), now))];
  });
}

function readCodex(headers: HeaderIndex, now: number): WindowReading[] {
  return headers.lines.flatMap(({ policy, value }) => {
    const [, family, position] = CODEX.exec(policy.name) ?? [];
    if (family === undefined) return [];
    const prefix = `x-${family}-${position}`;
    const name = nameByLength(readNumber(headers.get(`${prefix}-window-minutes`)), family);
    const percent = readPercent(value, 1);
    const reset =
      readReset(headers.get(`${prefix}-reset-at`), now) ??
      readReset(headers.get(`${prefix}-reset-after-seconds`), now);
    return name === null || percent === null ? [] : [share(name, percent, reset)];
  });
}

function readCounts(headers: HeaderIndex, now: number): WindowReading[] {
  return COUNTED.flatMap(([before, after, window]) => {
    const limit = readNumber(headers.get(`${before}limit${after}`));
    const remaining = readNumber(headers.get(`${before}remaining${after}`));
    if (limit === null || limit === 0 || remaining === null) return [];
    const usedPercent = toHundredths(Math.max(0, ((limit - remaining) / limit) * 100));
    const resetsAt = readReset(headers.get(`${before}reset${after}`), now);
    return [{ window, usedPercent, limit, remaining, resetsAt }];
  });
}

/** `retry-after-ms` is the more exact of the two. */
function readRetry(headers: HeaderIndex, now: number): number | null {
  const ms = readNumber(headers.get("retry-after-ms"));
  return ms === null ? readRetryAfter(headers.get("retry-after") ?? "", now) : readReset(ms / 1000, now);
}

function readPercent(value: unknown, factor: number): number | null {
  const number = readNumber(value);
  return number === null || number * factor > MOST_PERCENT ? null : toHundredths(number * factor);
}

function toHundredths(percent: number): number {
  return Math.round(percent * 100) / 100;
}

function share(window: string, usedPercent: number | null, resetsAt: number | null): WindowReading {
  return { window, usedPercent, limit: null, remaining: null, resetsAt };
}
