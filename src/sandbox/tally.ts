/** Tokens of one answer as the service bills them. The three inputs add up to the whole input; reasoning is part of output. */
export interface Billed {
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
  reasoning: number;
}

/** What the service counted for one key on one route: its successful answers and what they were billed. */
export interface SandboxCount extends Billed {
  requests: number;
}

/** One row of the service's own books. */
export interface TallyRow {
  key: string;
  route: string;
  count: SandboxCount;
}

/** The service's own books, to hold a proxy's ledger against. */
export class Tally {
  readonly #rows = new Map<string, TallyRow>();

  addRequest(key: string, route: string): void {
    this.#row(key, route).requests += 1;
  }

  addBilled(key: string, route: string, billed: Billed): void {
    const count = this.#row(key, route);
    count.input_uncached += billed.input_uncached;
    count.cache_read += billed.cache_read;
    count.cache_write += billed.cache_write;
    count.output += billed.output;
    count.reasoning += billed.reasoning;
  }

  rows(): TallyRow[] {
    return structuredClone([...this.#rows.values()]);
  }

  #row(key: string, route: string): SandboxCount {
    const id = JSON.stringify([key, route]);
    const row = this.#rows.get(id) ?? { key, route, count: emptyCount() };
    this.#rows.set(id, row);
    return row.count;
  }
}

function emptyCount(): SandboxCount {
  return { requests: 0, input_uncached: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 };
}
