import { isObject, parseJson, type JsonObject } from "../json.ts";
import { RECORD_VERSION, type ProcessRecord, type UsageRecord } from "./record.ts";
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
  "branch",
] as const;
/** Missing in records of earlier releases. */
const LATER_FIELDS = ["process", "project", "branch", "alias", "attempt_of", "billed_usd"] as const;
/** A decimal number of dollars, as `readBill` writes it. */
const BILL = /^\d{1,40}(?:\.\d{1,40})?$/;
const COUNTS = ["input_uncached", "cache_read", "cache_write", "output"] as const;

/**
 * Parses one line of the ledger. Checks the fields that reports use, so that a foreign line cannot corrupt a sum. Readers skip
 * records of an `unknown_version`, which a later release wrote.
 */
export function parseRecord(line: string): UsageRecord | "unknown_version" | "unreadable" {
  const value = parseJson(line);
  if (!isObject(value)) return "unreadable";
  if (isOfLaterVersion(value)) return "unknown_version";
  for (const name of LATER_FIELDS) value[name] ??= null;
  return isUsageRecord(value) ? value : "unreadable";
}

/** Says in a few words why {@link parseRecord} finds a line unreadable, such as `not JSON`; null for a line that it reads. */
export function explainUnreadable(line: string): string | null {
  const value = parseJson(line);
  if (value === undefined) return /^\0+$/.test(line) ? "only zero bytes" : "not JSON";
  if (!isObject(value)) return "not a JSON object";
  for (const name of LATER_FIELDS) value[name] ??= null;
  const field = isOfLaterVersion(value) ? null : findWrongField(value);
  return field === null
    ? null
    : `not a record: its field ${field} is ${field in value ? "wrong" : "missing"}`;
}

function isOfLaterVersion({ v: version }: JsonObject): boolean {
  return typeof version === "number" && version !== RECORD_VERSION;
}

function isUsageRecord(value: JsonObject): value is JsonObject & UsageRecord {
  return findWrongField(value) === null;
}

/** Returns the first field that is missing or wrong; null for a record. */
function findWrongField(value: JsonObject): string | null {
  const { v, process, tokens, extra, billed_usd: billed } = value;
  if (v !== RECORD_VERSION) return "v";
  for (const name of TEXTS) if (typeof value[name] !== "string") return name;
  if (value["id"] === "") return "id";
  for (const name of TEXTS_OR_NULL) if (!isTextOrNull(value[name])) return name;
  if (process !== null && !isProcess(process)) return "process";
  if (tokens !== null && !isTokens(tokens)) return "tokens";
  if (billed !== null && !(typeof billed === "string" && BILL.test(billed))) return "billed_usd";
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
