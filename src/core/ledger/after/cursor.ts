import { isObject } from "../../json.ts";

/** How far the files of one day have been read. */
export interface DayPosition {
  /** Bytes of the compressed file whose records have been read. It only grows, by whole gzip members. */
  compressed: number;
  /** Bytes of lines that have been read after these, of the rest of the compressed file followed by the open one: compressing moves no line in that. */
  lines: number;
  /** CRC-32 of the start of those lines, by which another file in their place is noticed; 0 while there are none. */
  start: number;
}

/** Which records of a ledger a reader has had. Days without a position have not been read at all. A value: readers return new ones. */
export interface LedgerCursor {
  days: Readonly<Record<string, DayPosition>>;
  /** Records whose `ts` is earlier are skipped; null for none. */
  since: string | null;
}

/** The position before the first record of a day. */
export const DAY_START: DayPosition = { compressed: 0, lines: 0, start: 0 };

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns a cursor that was written as JSON; null for anything else. */
export function parseCursor(value: unknown): LedgerCursor | null {
  if (!isObject(value) || !isObject(value["days"])) return null;
  const { days, since } = value;
  if (since !== null && typeof since !== "string") return null;
  const isWhole = Object.entries(days).every(([day, position]) => DAY.test(day) && isPosition(position));
  return isWhole ? { days: days as Record<string, DayPosition>, since } : null;
}

function isPosition(value: unknown): value is DayPosition {
  if (!isObject(value)) return false;
  return [value["compressed"], value["lines"], value["start"]].every(
    (count) => Number.isSafeInteger(count) && Number(count) >= 0,
  );
}
