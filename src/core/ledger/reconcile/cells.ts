import { UTC_CALENDAR } from "../calendar.ts";
import { parseDecimal, parseMoney, type Money } from "../../price/money.ts";
import type { ServiceRow } from "./service-row.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** From here on a number is in milliseconds since 1970, not in seconds. */
const FIRST_MILLISECONDS = 1e11;
const DATE = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/;

/** Reads a count, a number or its digits, with or without grouping commas; null for anything else. */
export function readCount(value: unknown): number | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !/^(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.0+)?$/.test(text.trim())) return null;
  const count = Number(text.replaceAll(",", ""));
  return Number.isSafeInteger(count) ? count : null;
}

/** Reads an amount of dollars such as `$1.05`; null for anything else. */
export function readDollars(value: unknown): Money | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return null;
  const digits = text.trim().replace(/^\$/, "").replaceAll(",", "");
  // Decimal types write their zero with an exponent that no price has.
  return parseMoney(digits.replace(/^0(?:\.0*)?[eE][+-]?\d+$/, "0"));
}

/** Reads an amount of cents, a decimal number in a string; null for anything else. */
export function readCents(value: unknown): Money | null {
  const decimal = typeof value === "string" ? parseDecimal(value) : null;
  return decimal === null ? null : parseMoney(`${decimal.digits}e-${decimal.scale + 2}`);
}

/** Reads when a row begins, and whether it is about a whole day. Times without a zone are in UTC. null for what is no time. */
export function readWhen(start: unknown, end: unknown): ServiceRow["when"] | null {
  const [, year, month, day] = DATE.exec(typeof start === "string" ? start.trim() : "") ?? [];
  if (year !== undefined && month !== undefined && day !== undefined)
    return { day: `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` };
  const [from, to] = [readInstant(start), readInstant(end)];
  if (from === null) return null;
  const isDay = from % DAY_MS === 0 && (to === null || to - from === DAY_MS);
  return isDay ? { day: UTC_CALENDAR.dayOf(from) } : { at: from };
}

function readInstant(value: unknown): number | null {
  const number = readCount(value);
  if (number !== null) return number < FIRST_MILLISECONDS ? number * 1000 : number;
  if (typeof value !== "string") return null;
  const text = value.trim().replace(/^(\d{4}-\d\d-\d\d) /, "$1T");
  const time = Date.parse(/(?:[zZ]|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : time;
}
