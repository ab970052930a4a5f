import { readFile } from "node:fs/promises";
import { hasCode } from "../core/failure.ts";
import type { PriceTable } from "../core/price/price-table.ts";
import { builtTable } from "./price-table/built-table.ts";

/**
 * Loads the price table: the file that the build has extracted from a package, 1 ms; in a clone that has not been built, that
 * package itself, 40 ms. Only for commands that ask for money. Requests nothing over the network.
 */
export async function loadPriceTable(): Promise<PriceTable> {
  const text = await readFile(builtTable, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  });
  if (text !== null) return JSON.parse(text) as PriceTable;
  return (await import("./price-table/extract.ts")).extractPriceTable();
}
