import { extractPriceTable } from "../../../src/adapters/price-table/extract.ts";
import { checkConfig } from "../../../src/core/config/config.ts";
import { costOf, type Cost } from "../../../src/core/price/cost.ts";
import { formatMoney } from "../../../src/core/price/money.ts";
import { PriceBook } from "../../../src/core/price/price-book.ts";

/** The table that the build extracts, which is the real one. */
export const priceTable = await extractPriceTable();

/** Returns the prices of a configuration with these upstreams and global prices. */
export function priceBook(upstreams: object, prices: object = {}): PriceBook {
  const result = checkConfig({ upstreams, prices }, "/home/ada");
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return new PriceBook(result.config, priceTable);
}

/**
 * Says what a cost is in one line: `0.42`, `≥ 0.42` for a lower bound, with `billed`, `configuration` or `free` after it unless it
 * is from the table; `unpriced` with what is missing and what the rest costs; `unknown`.
 */
export function describeCost(cost: Cost): string {
  if (cost.kind === "unknown") return "unknown";
  if (cost.kind === "unpriced") {
    const missing = cost.missing.map(({ model, what }) => `${model}: ${what}`).join(", ");
    return `unpriced ${missing}; at least ${formatMoney(cost.atLeast)}`;
  }
  const amount = `${cost.isLowerBound ? "≥ " : ""}${formatMoney(cost.amount)}`;
  return cost.from === "table" ? amount : `${amount} ${cost.from}`;
}

export { costOf };
