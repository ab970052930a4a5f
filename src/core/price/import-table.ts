import { readGenaiPrices } from "./formats/genai-prices.ts";
import { readLiteLlm } from "./formats/litellm.ts";
import { readModelsDev } from "./formats/models-dev.ts";
import { readOwnTable } from "./formats/own-table.ts";
import type { ReadPrices } from "./formats/read-prices.ts";
import { applyKnownRules } from "./known-rules.ts";
import type { PricedModel, PriceTable, Provider } from "./price-table.ts";
import { isWithinSlots } from "./time-slots.ts";

/** The formats of files with prices that can be imported. */
const FORMATS: readonly (readonly [name: string, read: (data: unknown) => ReadPrices | null])[] = [
  ["a table of tollkeeper's", readOwnTable],
  ["genai-prices", readGenaiPrices],
  ["LiteLLM", readLiteLlm],
  ["models.dev", readModelsDev],
];

/** A file with prices, as a table that counts before the built-in one. */
export interface ImportedTable {
  format: string;
  table: PriceTable;
  /** What of it cannot be used: a service, or one of its models. */
  leftOut: readonly string[];
}

/**
 * Makes a table of a file's prices; null for a file of no format that is known. What the built-in table knows of a service (its hosts,
 * who makes a model) counts for the imported prices, too.
 * @param name what the file is called in `tollkeeper prices`
 * @param day the day on which the file was got, for a format that has none
 */
export function importTable(
  data: unknown,
  builtIn: PriceTable,
  { name, day }: { name: string; day: string },
): ImportedTable | null {
  for (const [format, read] of FORMATS) {
    const found = read(data);
    if (found === null) continue;
    const leftOut = [...found.leftOut];
    const providers = found.providers.flatMap((provider) => {
      const placed = place(provider, builtIn);
      if (placed === null)
        leftOut.push(`${provider.id}: ${provider.models.length} models of a service without an address`);
      return placed === null ? [] : [applyKnownRules(withoutOtherTimes(placed, leftOut))];
    });
    const asOf = found.asOf ?? day;
    return { format, table: { source: name, asOf, sources: [{ name, asOf }], providers }, leftOut };
  }
  return null;
}

function place(provider: Provider, builtIn: PriceTable): Provider | null {
  const known = builtIn.providers.find(({ id }) => id === provider.id);
  if (known === undefined) return provider.api === "" ? null : provider;
  const { api, makes, alsoServes } = known;
  return {
    id: provider.id,
    api,
    ...(makes === undefined ? {} : { makes }),
    ...(alsoServes === undefined ? {} : { alsoServes }),
    models: provider.models,
  };
}

function fits({ id, prices }: PricedModel): boolean {
  return prices.every(({ between }) => between === undefined || isWithinSlots(id, between));
}

/** Leaves out models whose price changes at a time of the day by which sums are not told apart. */
function withoutOtherTimes(provider: Provider, leftOut: string[]): Provider {
  for (const model of provider.models)
    if (!fits(model)) leftOut.push(`${provider.id}: ${model.id}, whose price is by the time of the day`);
  return { ...provider, models: provider.models.filter(fits) };
}
