/** What one party has summed up; null for what it does not tell. */
export interface Totals {
  /** Exchanges of any kind. */
  exchanges: number | null;
  requests: number;
  failed: number;
  /** Requests of routes that never cost anything. */
  free: number | null;
  input: number;
  output: number;
  cacheRead: number;
  /** In 10^-9 US dollars, of which every price here is a multiple for each token. */
  nanodollars: number;
}

/** What records tell of an exchange, wherever they are read. */
export interface RecordedExchange {
  id: string;
  route: string;
  outcome: string;
  status: number | null;
  model: string | null;
  tokens: { uncached: number; cacheRead: number; cacheWrite: number; output: number } | null;
}

/** US dollars per million tokens: a part of the configuration, by which {@link sumExchanges} prices on its own. */
export const PRICES: Readonly<
  Record<string, Record<"input" | "cacheRead" | "cacheWrite" | "output", number>>
> = {
  "totals-large": { input: 15, cacheRead: 1.5, cacheWrite: 18.75, output: 75 },
  "totals-small": { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 },
  "totals-cheap": { input: 0.25, cacheRead: 0.025, cacheWrite: 0.3, output: 2 },
};

/**
 * Sums up records by the rules of docs/ledger.md, written down here once more, so that a mistake of the program's own sums shows. Of two
 * records with one id the first counts.
 */
export function sumExchanges(exchanges: Iterable<RecordedExchange>): Totals {
  const totals = {
    exchanges: 0,
    requests: 0,
    failed: 0,
    free: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    nanodollars: 0,
  };
  const seen = new Set<string>();
  for (const exchange of exchanges) {
    const { id, tokens, route } = exchange;
    if (seen.has(id)) continue;
    seen.add(id);
    totals.exchanges += 1;
    if (route.endsWith("/count_tokens")) totals.free += 1;
    else if (tokens === null && hasSpentNothing(exchange)) totals.failed += 1;
    else totals.requests += 1;
    if (tokens === null) continue;
    totals.input += tokens.uncached + tokens.cacheRead + tokens.cacheWrite;
    totals.output += tokens.output;
    totals.cacheRead += tokens.cacheRead;
    totals.nanodollars += priceOf(exchange);
  }
  return totals;
}

function hasSpentNothing({ outcome, status }: RecordedExchange): boolean {
  return outcome === "rejected" || (outcome === "error" && status !== null && status >= 300);
}

/** Returns what so many tokens cost at a price per million. */
const nanodollars = (count: number, price: number) => count * Math.round(price * 1_000);

function priceOf({ model, tokens }: RecordedExchange): number {
  const prices = PRICES[model ?? ""];
  if (prices === undefined || tokens === null) return 0;
  return (
    nanodollars(tokens.uncached, prices.input) +
    nanodollars(tokens.cacheRead, prices.cacheRead) +
    nanodollars(tokens.cacheWrite, prices.cacheWrite) +
    nanodollars(tokens.output, prices.output)
  );
}

/** Returns dollars as {@link Totals} have them. Floating-point sums have 15 digits, which is more than any total here. */
export function toNanodollars(dollars: number): number {
  return Math.round(dollars * 1e9);
}
