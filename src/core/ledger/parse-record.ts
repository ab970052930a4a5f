import { isObject, parseJson, type JsonObject } from "../json.ts";
import {
  CACHE_WRITE_LIFETIMES,
  RECORD_FIELD_LIST,
  RECORD_VERSION,
  type Kind,
  type UsageRecord,
} from "./record.ts";

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
  for (const { name, kind, isOptional } of RECORD_FIELD_LIST) if (isOptional) value[name] ??= emptyOf(kind);
  const { tokens } = value;
  if (!isObject(tokens)) return;
  for (const name of CACHE_WRITE_LIFETIMES) tokens[name] ??= 0;
  tokens["reasoning"] ??= null;
}

/** What a field is that a line leaves out. */
function emptyOf(kind: Kind): unknown {
  if (kind === "calls") return {};
  return kind === "texts" || kind === "extra" ? [] : null;
}

function isUsageRecord(value: JsonObject): value is JsonObject & UsageRecord {
  return findWrongField(value) === null;
}

/** Returns the first field that is missing or wrong; null for a record. */
function findWrongField(value: JsonObject): string | null {
  if (value["id"] === "") return "id";
  for (const { name, kind, isOptional } of RECORD_FIELD_LIST) {
    const field = value[name];
    if (!(isOptional && field === null) && !CHECKS[kind](field)) return name;
  }
  return null;
}

const CHECKS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  version: (value) => value === RECORD_VERSION,
  text: isText,
  texts: areTexts,
  boolean: (value) => typeof value === "boolean",
  number: isNumber,
  milliseconds: isNumber,
  count: isCount,
  dollars: (value) => isText(value) && BILL.test(value),
  process: (value) =>
    isObject(value) && isCount(value["pid"]) && isText(value["executable"]) && areTexts(value["parents"]),
  tokens: (value) =>
    isObject(value) && hasCounts(value) && (value["reasoning"] === null || isCount(value["reasoning"])),
  extra: (value) => Array.isArray(value) && value.every(isExtra),
  calls: (value) => isObject(value) && Object.values(value).every(isCount),
  object: isObject,
};

function isExtra(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { model, billable, smallest_prompt: smallest = 0, largest_prompt: largest = 0 } = value;
  if (!hasCounts(value) || !isCount(smallest) || !isCount(largest)) return false;
  const { speed = null, inference_geo: geo = null } = value;
  return (
    [model, speed, geo].every((text) => text === null || isText(text)) &&
    (billable === true || billable === null)
  );
}

function hasCounts(value: JsonObject): boolean {
  return COUNTS.every((name) => isCount(value[name]));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}
