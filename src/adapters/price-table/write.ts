// A step of the build: writes the price table that the commands load, and says on what its sources disagree.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Price } from "../../core/price/rate-class.ts";
import { builtTable } from "./built-table.ts";
import { extractPrices } from "./extract.ts";

const { table, contradictions } = await extractPrices();
mkdirSync(dirname(builtTable), { recursive: true });
writeFileSync(builtTable, JSON.stringify(table));

const [, newer] = table.sources;
if (process.argv.includes("--contradictions"))
  for (const { provider, model, what } of contradictions) {
    const changes = what.map((one) => `${one.class} ${show(one.older)} is now ${show(one.newer)}`);
    console.error(`${provider}/${model}: ${changes.join(", ")}`);
  }
console.error(
  `prices: the sources disagree on ${contradictions.length} models; from ${newer?.asOf} on, those of ${newer?.name} count (to see them: npm run prices -- --contradictions)`,
);

function show(price: Price | undefined): string {
  if (typeof price !== "object") return String(price);
  return [price.base, ...price.tiers.map(({ above, price: tier }) => `${tier} above ${above}`)].join(", ");
}
