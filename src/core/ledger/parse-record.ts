import { isObject, parseJson, type JsonObject } from "../json.ts";
import { CACHE_WRITE_LIFETIMES, RECORD_VERSION, type ProcessRecord, type UsageRecord } from "./record.ts";
import type { ExtraTokens, Tokens } from "../usage/reading.ts";

const TEXTS = ["id", "ts", "tool", "key", "route", "method", "outcome", "usage", "spend"] as const;
const TEXTS_OR_NULL = [
  "session",
  "project",
  "response_id",
  "model",
  "model_requested",
  "alias",
  "attempt_of",
  "traceparent",
  "branch",
] as const;
/** Left out of a line where they are null. Records of version 1 lack only those that did not exist yet. */
const NULLABLE = [
  ...TEXTS_OR_NULL,
  "user_agent",
  "process",
  "status",
  "stream",
  "stop",
  "error_type",
  "service_tier",
  "speed",
  "inference_geo",
  "tokens",
  "billed_usd",
  "raw_usage",
  "upstream_request_id",
  "cut_by",
  "ttft_ms",
  "output_estimate",
] as const satisfies (keyof UsageRecord)[];
/** A decimal number of dollars, as `readBill` writes it. */
const BILL = /^\d{1,40}(?:\.\d{1,40})?$/;
const COUNTS = ["input_uncached", "cache_read", "cache_write", "output"] as const;

/** How every line begins. */
const START = '{"v":';

/**
 * What a line is if it is no record.
 * - `torn`: the start of one, which a crash or a full disk cut off; also an empty line, and zeros, which a crash of the machine leaves
 * - `unknown_version`: a record that a later release wrote
 * - `unreadable`: anything else
 */
export type NoRecord = "torn" | "unknown_version" | "unreadable";

/**
 * Parses one line of the ledger. Checks the fields that reports use, so that a foreign line cannot corrupt a sum. A record that another
 * daemon appended to a torn line is read.
 */
export function parseRecord(line: string): UsageRecord | NoRecord {
  const value = parseJson(line);
  if (value === undefined && isTorn(line)) return parseEnd(line);
  if (!isObject(value)) return "unreadable";
  if (isOfLaterVersion(value)) return "unknown_version";
  complete(value);
  return isUsageRecord(value) ? value : "unreadable";
}

/** For a line that is not JSON. */
function isTorn(line: string): boolean {
  return START.startsWith(line.slice(0, START.length)) || /^\0+$/.test(line);
}

function parseEnd(line: string): UsageRecord | NoRecord {
  const end = line.lastIndexOf(START);
  const record = end > 0 ? parseRecord(line.slice(end)) : "torn";
  return record === "unreadable" ? "torn" : record;
}

/** Says in a few words why {@link parseRecord} finds a line unreadable, such as `not JSON`; null for a line that it reads. */
export function explainUnreadable(line: string): string | null {
  const value = parseJson(line);
  if (value === undefined) return "not JSON";
  if (!isObject(value)) return "not a JSON object";
  complete(value);
  const field = isOfLaterVersion(value) ? null : findWrongField(value);
  return field === null
    ? null
    : `not a record: its field ${field} is ${field in value ? "wrong" : "missing"}`;
}

function isOfLaterVersion({ v: version }: JsonObject): boolean {
  return typeof version === "number" && version !== 1 && version !== RECORD_VERSION;
}

/** Adds what the line leaves out, and makes a record of version 1 one of the present version. */
function complete(value: JsonObject): void {
  if (value["v"] === 1) value["v"] = RECORD_VERSION;
  for (const name of NULLABLE) value[name] ??= null;
  value["extra"] ??= [];
  value["server_tools"] ??= {};
  value["flags"] ??= [];
  const { tokens } = value;
  if (!isObject(tokens)) return;
  for (const name of CACHE_WRITE_LIFETIMES) tokens[name] ??= 0;
  tokens["reasoning"] ??= null;
}

function isUsageRecord(value: JsonObject): value is JsonObject & UsageRecord {
  return findWrongField(value) === null;
}

/** Returns the first field that is missing or wrong; null for a record. */
function findWrongField(value: JsonObject): string | null {
  const { v, process, tokens, extra, billed_usd: billed, output_estimate: estimate } = value;
  if (v !== RECORD_VERSION) return "v";
  for (const name of TEXTS) if (typeof value[name] !== "string") return name;
  if (value["id"] === "") return "id";
  for (const name of TEXTS_OR_NULL) if (!isTextOrNull(value[name])) return name;
  if (process !== null && !isProcess(process)) return "process";
  if (tokens !== null && !isTokens(tokens)) return "tokens";
  if (billed !== null && !(typeof billed === "string" && BILL.test(billed))) return "billed_usd";
  if (estimate !== null && !isCount(estimate)) return "output_estimate";
  return Array.isArray(extra) && extra.every(isExtra) ? null : "extra";
}

function isProcess(value: unknown): value is ProcessRecord {
  if (!isObject(value)) return false;
  const { pid, executable, parents } = value;
  const areNames = Array.isArray(parents) && parents.every((name) => typeof name === "string");
  return isCount(pid) && typeof executable === "string" && areNames;
}

function isTokens(value: unknown): value is Tokens {
  if (!isObject(value)) return false;
  const reasoning = value["reasoning"];
  return hasCounts(value) && (reasoning === null || isCount(reasoning));
}

function isExtra(value: unknown): value is ExtraTokens {
  if (!isObject(value)) return false;
  const billable = value["billable"];
  return hasCounts(value) && isTextOrNull(value["model"]) && (billable === true || billable === null);
}

function hasCounts(value: JsonObject): boolean {
  return COUNTS.every((name) => isCount(value[name]));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}
