import { parseJson } from "../../json.ts";
import type { PriceSlots } from "../../price/spending.ts";
import { daySlots } from "../../price/time-slots.ts";
import { toPrintable } from "../../text/printable.ts";
import { RECORD_VERSION } from "../record.ts";
import type { Rollup } from "../rollup.ts";
import {
  formatSums,
  linesOf,
  readSums,
  ROLLUP_VERSION,
  type Checksum,
  type FileState,
  type RollupFile,
} from "./rollup-text.ts";

/** Version of the format. Months of another one are made again. */
const MONTH_VERSION = 1;

/** What decides whether a month can be read by this program. */
const FORM = { month: MONTH_VERSION, rollup: ROLLUP_VERSION, records: RECORD_VERSION };

/** A day of a month: its records, and the rollup that was made from them. */
export interface MonthDay {
  day: string;
  files: readonly FileState[];
}

/** Times of requests to a model whose charges were added up, as if its prices had been the same at all of them. */
type SamePrices = readonly [upstream: string, model: string, times: readonly string[]];

/** The first line of a month's file. */
interface Header {
  form: typeof FORM;
  month: string;
  days: readonly MonthDay[];
  limits: readonly number[];
  same: readonly SamePrices[];
  /** CRC-32 of the rest of this line, of the second line and of the third. */
  crc: readonly [rest: number, sums: number, times: number];
}

/** A file with the sums of a month. */
export interface MonthFile extends Pick<RollupFile, "limits" | "terms" | "read"> {
  days: readonly MonthDay[];
  /** False for another form, in which nothing else counts. */
  isCurrent: boolean;
  /** True where the prices do not tell times apart whose charges were added up. */
  hasPrices(slots: PriceSlots): boolean;
}

/**
 * Returns the three lines of a month's file: what it is of, the sums, and the times.
 * @param month the sums of these rollups: `mergeRollups`
 * @param slots those that they were merged by
 */
export function formatMonth(
  month: Rollup,
  { rollups, days, slots }: { rollups: readonly Rollup[]; days: readonly MonthDay[]; slots: PriceSlots },
  checksum: Checksum,
): string {
  const lines = formatSums(month);
  const { day, limits } = month;
  const rest = { form: FORM, month: day, days, limits, same: samePrices(rollups, slots) };
  const header: Header = {
    ...rest,
    crc: [checksum(JSON.stringify(rest)), checksum(lines[0]), checksum(lines[1])],
  };
  return `${[toPrintable(JSON.stringify(header)), ...lines].join("\n")}\n`;
}

/** Parses a month's file; null for a damaged one, and one of another month. */
export function parseMonth(file: Buffer, month: string, checksum: Checksum): MonthFile | null {
  const [first, sums, times] = linesOf(file);
  if (first === undefined || sums === undefined || times === undefined) return null;
  const header = parseJson(first.toString()) as Header | null | undefined;
  if (header?.month !== month) return null;
  const { crc, ...rest } = header;
  const isCurrent = JSON.stringify(rest.form) === JSON.stringify(FORM);
  const found = [checksum(JSON.stringify(rest)), checksum(sums), checksum(times)];
  if (isCurrent && JSON.stringify(found) !== JSON.stringify(crc)) return null;
  const { days, limits, same } = rest;
  const read = () => readSums(sums, times, limits);
  return {
    days,
    limits,
    isCurrent,
    hasPrices: (slots) => same.every((one) => isSame(one, slots)),
    terms: () => read().terms,
    read,
  };
}

function isSame([upstream, model, times]: SamePrices, slots: PriceSlots): boolean {
  return new Set(times.map((ts) => slots.slotOf(upstream, model, ts))).size < 2;
}

/** Of each day one time is enough, unless prices of the model change during days. */
function samePrices(rollups: readonly Rollup[], slots: PriceSlots): SamePrices[] {
  const found = new Map<string, { same: [string, string]; times: Map<string, string> }>();
  for (const { terms, limits } of rollups)
    for (const [upstream, model, ts] of terms) {
      if (model === null) continue;
      const key = JSON.stringify([upstream, model, slots.slotOf(upstream, model, ts)]);
      let known = found.get(key);
      if (known === undefined) found.set(key, (known = { same: [upstream, model], times: new Map() }));
      known.times.set(`${ts.slice(0, 10)} ${daySlots(limits).slotOf(upstream, model, ts)}`, ts);
    }
  return Array.from(found.values(), ({ same, times }) => [...same, [...times.values()]] as const);
}
