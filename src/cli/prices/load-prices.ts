import { loadPriceBook } from "../../adapters/price-table.ts";
import type { Config } from "../../core/config/config.ts";
import type { PriceBook } from "../../core/price/price-book.ts";
import type { PriceTable } from "../../core/price/price-table.ts";
import { note } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";

const DAY_MS = 86_400_000;

/**
 * From this age on, a price table is said to be old: prices change several times a year. Reports of usage name its date and say no
 * more, until it is so old that most models in use are newer.
 */
export const OLD_DAYS = { prices: 60, usage: 180 };

/** Loads all prices of a configuration. Warns of imported ones that cannot be used. */
export async function loadPrices(config: Config): Promise<PriceBook> {
  return loadPriceBook(config, ({ message, hint }) => {
    note(`warning: ${message}`);
    if (hint !== undefined) note(`hint: ${hint}`);
  });
}

/** Returns the age of a price table, in whole days. */
export function ageOf({ asOf }: PriceTable, now: number): number {
  return Math.max(0, Math.floor((now - Date.parse(asOf)) / DAY_MS));
}

/** Returns what to say if the price table is old, for `layOutProse`; null if it is not. `now` in milliseconds since 1970. */
export function remarkOnAge(table: PriceTable, now: number, oldDays = OLD_DAYS.prices): string | null {
  const days = ageOf(table, now);
  if (days <= oldDays) return null;
  return `The price table is ${pluralize(days, "day")} old: newer models and price changes are missing. For a newer table, update tollkeeper. To set a price yourself, type:\n  tollkeeper config edit`;
}
