import type { ExaminedRequest } from "./examine.ts";

/** Where the price of a model is from. */
export interface PriceOrigin {
  model: string;
  /** The provider in the price table; null where that does not know it. */
  provider: string | null;
  /** The source of the table; null for a price of the configuration. */
  source: string | null;
  /** The day of that source; null as above. */
  asOf: string | null;
}

/** Returns where the prices of a request's lines are from, each model once. */
export function findPriceOrigins({ cost, worth, source, prices }: ExaminedRequest): PriceOrigin[] {
  const shown = worth ?? cost;
  if (shown === null || shown.kind === "unknown") return [];
  const at = Date.parse(source.ts);
  return [...new Set(shown.lines.map(({ model }) => model))].flatMap((model) => {
    const found =
      worth === null ? prices.find(source.upstream, model, at) : prices.findWorth(source.upstream, model, at);
    if (found === null || found === "free") return [];
    return [
      {
        model,
        provider: found.provider,
        source: found.source?.name ?? null,
        asOf: found.source?.asOf ?? null,
      },
    ];
  });
}
