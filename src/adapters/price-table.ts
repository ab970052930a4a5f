import type { PriceTable } from "../core/price/price-table.ts";
import { readBuiltTable } from "./price-table/built-table.ts";

// price-table/built-table.ts has an entry point of its own, for a bundle that leaves the package out.

/**
 * Loads the price table: the file that the build has extracted from a package, 1 ms; in a clone that has not been built, that
 * package itself, 40 ms. Only for commands that ask for money. Requests nothing over the network.
 */
export async function loadPriceTable(): Promise<PriceTable> {
  return readBuiltTable() ?? (await import("./price-table/extract.ts")).extractPriceTable();
}
