import { rmSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { isMonthFileName, monthFileName, monthOf } from "../../../core/ledger/day.ts";
import type { Rollup } from "../../../core/ledger/rollup.ts";
import { mergeRollups } from "../../../core/ledger/rollup/merge-rollups.ts";
import {
  formatMonth,
  parseMonth,
  type MonthDay,
  type MonthFile,
} from "../../../core/ledger/rollup/month-text.ts";
import type { PriceSlots } from "../../../core/price/spending.ts";
import { replaceFile } from "../../../replace-file.ts";
import { namesIn } from "../open-day.ts";
import { areSame, listDays, withRollup, type LedgerDay } from "./list-days.ts";
import { readIfRegular, readRollup } from "./rollup-file.ts";

/** A month whose days have records and rollups. */
interface WholeMonth {
  /** `YYYY-MM`. */
  month: string;
  /** What its sums are made from, in their order. */
  days: readonly MonthDay[];
}

/**
 * Returns a month as far as its sums can be told from rollups of records that are there; null where some of its days have no rollup, or
 * have sums of records that are deleted.
 */
export function wholeMonth(directory: string, month: string, days: readonly LedgerDay[]): WholeMonth | null {
  if (!days.every(({ files, hasRollup, isKept }) => files.length > 0 && hasRollup && !isKept)) return null;
  return { month, days: days.map((one) => ({ day: one.day, files: withRollup(directory, one) })) };
}

/** Reads the sums of a month; null when there are none that can be used, or one of its days has changed since. */
export function readMonth(directory: string, { month, days }: WholeMonth): MonthFile | null {
  const file = readFile(directory, month);
  return file?.isCurrent === true && areSameDays(file.days, days) ? file : null;
}

/** Deletes the sums of a day's month. */
export function deleteMonthOf(directory: string, day: string): void {
  rmSync(join(directory, monthFileName(monthOf(day))), { force: true });
}

/** Returns the months of which there are sums. */
export function listMonths(directory: string): string[] {
  return namesIn(directory).filter(isMonthFileName).map(monthOf).toSorted();
}

/**
 * Verifies the sums of a month against the rollups of its days. Returns what is wrong with them; null if nothing is, or if they are not used: a
 * day has changed since, or they were made for other prices.
 */
export function verifyMonth(directory: string, month: string, slots: PriceSlots): string | null {
  const file = readFile(directory, month);
  if (file === null) return "it cannot be read";
  const days = listDays(directory, { from: `${month}-01`, to: `${month}-31` });
  const whole = wholeMonth(directory, month, days);
  const isUsed = file.isCurrent && whole !== null && areSameDays(file.days, whole.days);
  if (!isUsed || !file.hasPrices(slots)) return null;
  const rollups = days.flatMap(({ day }) => readRollup(directory, day)?.read() ?? []);
  const [found, expected] = [[file.read()], rollups].map((some) => mergeRollups(month, some, slots));
  return JSON.stringify(found) === JSON.stringify(expected) ? null : "its sums are not those of its days";
}

function readFile(directory: string, month: string): MonthFile | null {
  const bytes = readIfRegular(join(directory, monthFileName(month)));
  return bytes === null ? null : parseMonth(bytes, month, crc32);
}

/**
 * Makes the sums of a month from the rollups of its days. Returns them, and what writes them.
 * @param slots those of the prices: charges at times that these do not tell apart are added up
 */
export function makeMonth(
  directory: string,
  { month, days }: WholeMonth,
  { rollups, slots }: { rollups: readonly Rollup[]; slots: PriceSlots },
): { file: MonthFile | null; write: () => void } {
  const text = formatMonth(mergeRollups(month, rollups, slots), { rollups, days, slots }, crc32);
  return {
    file: parseMonth(Buffer.from(text), month, crc32),
    write() {
      try {
        replaceFile(join(directory, monthFileName(month)), text);
      } catch {
        // A directory that this user may only read, or a full disk, which doctor reports.
      }
    },
  };
}

function areSameDays(some: readonly MonthDay[], others: readonly MonthDay[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ day, files }, at) => day === others[at]?.day && areSame(files, others[at].files))
  );
}
