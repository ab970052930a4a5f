import type { PriceSettings } from "../core/config/config.ts";
import type { Failure } from "../core/failure.ts";
import { PriceBook } from "../core/price/price-book.ts";
import type { PriceTable } from "../core/price/price-table.ts";
import { readBuiltTable } from "./price-table/built-table.ts";
import { readImported } from "./price-table/imported-table.ts";

// price-table/built-table.ts has an entry point of its own, for a bundle that leaves the package out.

/**
 * Loads the price table: the file that the build has extracted from its sources, 2 ms; in a clone that has not been built, the sources
 * themselves, 0.4 s. Only for what asks for money. Requests nothing over the network.
 */
export async function loadPriceTable(): Promise<PriceTable> {
  return readBuiltTable() ?? (await import("./price-table/extract.ts")).extractPriceTable();
}

/**
 * Loads all prices of a configuration. An imported table that cannot be used is left out.
 * @param tell is called with what is wrong with it
 */
export async function loadPriceBook(
  settings: PriceSettings,
  tell: (problem: Failure) => void = () => {},
): Promise<PriceBook> {
  const table = await loadPriceTable();
  return new PriceBook(settings, table, await readImported(settings, tell));
}
