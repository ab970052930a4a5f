/** The billed tokens of one response. The three inputs add up to the whole input; reasoning is part of the output. */
export interface BilledTokens {
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
  reasoning: number;
}

/** The successful responses to one key on one route, and their billed tokens. */
interface TallyCount extends BilledTokens {
  requests: number;
}

const EMPTY = { requests: 0, input_uncached: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 };

export interface TallyRow {
  key: string;
  route: string;
  count: TallyCount;
}

/** Counts requests and billed tokens per key and route, as a reference for a proxy's ledger. */
export class Tally {
  readonly #rows = new Map<string, TallyRow>();

  addRequest(key: string, route: string): void {
    this.#row(key, route).requests += 1;
  }

  addBilled(key: string, route: string, billed: BilledTokens): void {
    const count = this.#row(key, route);
    for (const kind of Object.keys(billed) as (keyof BilledTokens)[]) count[kind] += billed[kind];
  }

  rows(): TallyRow[] {
    return structuredClone([...this.#rows.values()]);
  }

  #row(key: string, route: string): TallyCount {
    const id = JSON.stringify([key, route]);
    const row = this.#rows.get(id) ?? { key, route, count: { ...EMPTY } };
    this.#rows.set(id, row);
    return row.count;
  }
}
