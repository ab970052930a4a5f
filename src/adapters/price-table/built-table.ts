import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { hasCode } from "../../core/failure.ts";
import type { PriceTable } from "../../core/price/price-table.ts";

/** Path of the file that the build writes. Resolved from a file that exists, because tsx completes the names of others. */
export const builtTable = fileURLToPath(
  new URL("dist/prices.json", import.meta.resolve("#package/package.json")),
);

/** Reads the price table that the build has extracted, in 1 ms; null in a clone that has not been built. */
export function readBuiltTable(): PriceTable | null {
  try {
    return JSON.parse(readFileSync(builtTable, "utf8")) as PriceTable;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
