import type { ProcessRecord, UsageRecord } from "./record.ts";

const USER_AGENT_CHARACTERS = 512;
/** Linux allows 4096 bytes, but such paths are rare. */
const PATH_CHARACTERS = 1024;
const TEXT_CHARACTERS = 256;
const MAX_PARENTS = 16;
const RAW_USAGE_BYTES = 64 * 1024;

/** Upper bounds in JSON: an escaped character, a number, a pair of quotes or brackets, and a member's punctuation. */
const CHARACTER_BYTES = 6;
const NUMBER_BYTES = 25;
const DELIMITER_BYTES = 2;
const MEMBER_BYTES = 6;
const MAX_DEPTH = 64;

/**
 * Limits a record's size: cuts its texts, and removes and flags an oversized `raw_usage`. Clients and upstreams must not
 * decide how long a line of the ledger gets (SECURITY.md E3). Never changes counts. Returns the same object when nothing
 * exceeds a limit, as almost always: the check costs 0.3 µs, a copy 2.4.
 */
export function truncateRecord(record: UsageRecord): UsageRecord {
  return isWithinLimits(record) ? record : truncatedCopy(record);
}

/** True when the record certainly exceeds no limit. Copies nothing, and overestimates `raw_usage`. */
function isWithinLimits(record: UsageRecord): boolean {
  for (const name in record) {
    const value = record[name as keyof UsageRecord];
    if (typeof value === "string" && value.length > TEXT_CHARACTERS) return false;
  }
  if (record.process !== null && !isSmallProcess(record.process)) return false;
  for (const name in record.server_tools) if (name.length > TEXT_CHARACTERS) return false;
  return record.extra.length === 0 && estimateBytes(record.raw_usage, 1) <= RAW_USAGE_BYTES;
}

/** Returns an upper bound for the length of a value as JSON. */
function estimateBytes(value: unknown, depth: number): number {
  if (typeof value === "string") return DELIMITER_BYTES + value.length * CHARACTER_BYTES;
  if (typeof value !== "object" || value === null) return NUMBER_BYTES;
  if (depth > MAX_DEPTH) return Infinity;
  let bytes = DELIMITER_BYTES;
  for (const name in value) {
    const below = estimateBytes(value[name as keyof typeof value], depth + 1);
    bytes += MEMBER_BYTES + name.length * CHARACTER_BYTES + below;
  }
  return bytes;
}

function truncatedCopy(record: UsageRecord): UsageRecord {
  const fits = isSmallUsage(record.raw_usage);
  return {
    ...truncateTexts(record),
    user_agent: record.user_agent === null ? null : truncate(record.user_agent, USER_AGENT_CHARACTERS),
    process: record.process === null ? null : truncateProcess(record.process),
    project: record.project === null ? null : truncate(record.project, PATH_CHARACTERS),
    extra: record.extra.map(truncateTexts),
    server_tools: Object.fromEntries(
      Object.entries(record.server_tools).map(([name, calls]) => [truncate(name, TEXT_CHARACTERS), calls]),
    ),
    raw_usage: fits ? record.raw_usage : null,
    flags: fits ? record.flags : [...record.flags, "raw_usage_too_large"],
  };
}

function isSmallProcess({ executable, parents }: ProcessRecord): boolean {
  if (executable.length > PATH_CHARACTERS || parents.length > MAX_PARENTS) return false;
  for (const name of parents) if (name.length > TEXT_CHARACTERS) return false;
  return true;
}

function truncateProcess({ pid, executable, parents }: ProcessRecord): ProcessRecord {
  return {
    pid,
    executable: truncate(executable, PATH_CHARACTERS),
    parents: parents.slice(0, MAX_PARENTS).map((name) => truncate(name, TEXT_CHARACTERS)),
  };
}

function truncateTexts<T extends object>(fields: T): T {
  const truncated = { ...fields };
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string" && value.length > TEXT_CHARACTERS)
      Object.assign(truncated, { [name]: truncate(value, TEXT_CHARACTERS) });
  }
  return truncated;
}

/** Cuts after `length` UTF-16 code units, or one earlier where that would split a surrogate pair. */
function truncate(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

function isSmallUsage(usage: Record<string, unknown> | null): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(usage)) <= RAW_USAGE_BYTES;
  } catch {
    // JSON.stringify ran out of stack: JSON.parse accepts deeper nesting.
    return false;
  }
}
