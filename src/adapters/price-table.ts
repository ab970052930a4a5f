import { PriceBook } from "../core/price/price-book.ts";
import { type PriceSettings } from "../core/config/config.ts";
import type { PriceTable } from "../core/price/price-table.ts";
import { readBuiltTable } from "./price-table/built-table.ts";

// price-table/built-table.ts has an entry point of its own, for a bundle that leaves the package out.

/**
 * Loads the price table: the file that the build has extracted from its sources, 2 ms; in a clone that has not been built, the sources
 * themselves, 0.4 s. Only for what asks for money. Requests nothing over the network.
 */
async function loadPriceTable(): Promise<PriceTable> {
  return readBuiltTable() ?? (await import("./price-table/extract.ts")).extractPriceTable();
}

/** Loads all prices of a configuration. */
export async function loadPriceBook(settings: PriceSettings): Promise<PriceBook> {
  return new PriceBook(settings, await loadPriceTable());
}
