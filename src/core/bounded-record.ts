import type { UsageRecord } from "./record.ts";

const USER_AGENT_CHARACTERS = 512;
const TEXT_CHARACTERS = 256;
const RAW_USAGE_BYTES = 64 * 1024;

/**
 * The record with its texts cut to length and an oversized `raw_usage` left out and flagged: what clients and upstreams
 * say must not decide how long a line of the ledger gets (facts/threats.md E3). Counts are never touched.
 */
export function boundRecord(record: UsageRecord): UsageRecord {
  const fits = isSmall(record.raw_usage);
  return {
    ...capTexts(record),
    user_agent: record.user_agent === null ? null : cap(record.user_agent, USER_AGENT_CHARACTERS),
    extra: record.extra.map(capTexts),
    server_tools: Object.fromEntries(
      Object.entries(record.server_tools).map(([name, calls]) => [cap(name, TEXT_CHARACTERS), calls]),
    ),
    raw_usage: fits ? record.raw_usage : null,
    flags: fits ? record.flags : [...record.flags, "raw_usage_too_large"],
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
