import type { ProcessRecord, UsageRecord } from "./record.ts";

const USER_AGENT_CHARACTERS = 512;
/** Linux has longer ones, but hardly anybody has. */
const PATH_CHARACTERS = 1024;
const TEXT_CHARACTERS = 256;
const MOST_PARENTS = 16;
const RAW_USAGE_BYTES = 64 * 1024;

/** At most, in JSON: a character, as an escape; a number; the signs of a text, and around a member and in front of its name. */
const CHARACTER_BYTES = 6;
const NUMBER_BYTES = 25;
const QUOTES = 2;
const MEMBER_SIGNS = 6;
const COUNTED_DEPTH = 64;

/**
 * The record with its texts cut to length and an oversized `raw_usage` left out and flagged: what clients and upstreams
 * say must not decide how long a line of the ledger gets (facts/threats.md E3). Counts are never touched. Nearly every
 * record is in bounds and stays what it is: to see that costs 0.3 µs, a bounded copy 2.4.
 */
export function boundRecord(record: UsageRecord): UsageRecord {
  return isBounded(record) ? record : boundedCopy(record);
}

/** Certainly in bounds? By counting, without a copy of anything; what is near a bound is no. */
function isBounded(record: UsageRecord): boolean {
  for (const name in record) {
    const value = record[name as keyof UsageRecord];
    if (typeof value === "string" && value.length > TEXT_CHARACTERS) return false;
  }
  if (record.process !== null && !isSmallProcess(record.process)) return false;
  for (const name in record.server_tools) if (name.length > TEXT_CHARACTERS) return false;
  return record.extra.length === 0 && mostBytes(record.raw_usage, 1) <= RAW_USAGE_BYTES;
}

/** Of a value as JSON: not more than so many. */
function mostBytes(value: unknown, depth: number): number {
  if (typeof value === "string") return QUOTES + value.length * CHARACTER_BYTES;
  if (typeof value !== "object" || value === null) return NUMBER_BYTES;
  if (depth > COUNTED_DEPTH) return Infinity;
  let bytes = QUOTES;
  for (const name in value) {
    const below = mostBytes(value[name as keyof typeof value], depth + 1);
    bytes += MEMBER_SIGNS + name.length * CHARACTER_BYTES + below;
  }
  return bytes;
}

function boundedCopy(record: UsageRecord): UsageRecord {
  const fits = isSmall(record.raw_usage);
  return {
    ...capTexts(record),
    user_agent: record.user_agent === null ? null : cap(record.user_agent, USER_AGENT_CHARACTERS),
    process: record.process === null ? null : cappedProcess(record.process),
    project: record.project === null ? null : cap(record.project, PATH_CHARACTERS),
    extra: record.extra.map(capTexts),
    server_tools: Object.fromEntries(
      Object.entries(record.server_tools).map(([name, calls]) => [cap(name, TEXT_CHARACTERS), calls]),
    ),
    raw_usage: fits ? record.raw_usage : null,
    flags: fits ? record.flags : [...record.flags, "raw_usage_too_large"],
  };
}

function isSmallProcess({ executable, parents }: ProcessRecord): boolean {
  if (executable.length > PATH_CHARACTERS || parents.length > MOST_PARENTS) return false;
  for (const name of parents) if (name.length > TEXT_CHARACTERS) return false;
  return true;
}

function cappedProcess({ pid, executable, parents }: ProcessRecord): ProcessRecord {
  return {
    pid,
    executable: cap(executable, PATH_CHARACTERS),
    parents: parents.slice(0, MOST_PARENTS).map((name) => cap(name, TEXT_CHARACTERS)),
  };
}

function capTexts<T extends object>(fields: T): T {
  const capped = { ...fields };
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string" && value.length > TEXT_CHARACTERS)
      Object.assign(capped, { [name]: cap(value, TEXT_CHARACTERS) });
  }
  return capped;
}

/** Cuts after `length` UTF-16 units, and before a pair that this would split. */
function cap(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

function isSmall(usage: Record<string, unknown> | null): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(usage)) <= RAW_USAGE_BYTES;
  } catch {
    // Nested deeper than JSON.stringify's stack reaches: JSON.parse takes what it cannot give back.
    return false;
  }
}
