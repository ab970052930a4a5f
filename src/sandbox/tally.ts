/** Enough for one run of a test under load. The oldest executions are forgotten; the counts are not. */
const MAX_EXECUTIONS = 10_000;

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

/** A request that was carried out, whatever became of its response. */
export interface Execution {
  /** The id that the response carries. */
  requestId: string;
  /** The client's own id for the request, from the header `x-client-request-id`; null without one. */
  clientRequestId: string | null;
  /** Name of the key. */
  key: string;
  route: string;
  /** The model as the request names it; null for a route without one. */
  model: string | null;
}

/** Counts requests and billed tokens per key and route, as a reference for a proxy's ledger, and lists the newest requests. */
export class Tally {
  readonly #rows = new Map<string, TallyRow>();
  readonly #executions = new Set<Execution>();

  addExecution(execution: Execution): void {
    this.#row(execution.key, execution.route).requests += 1;
    this.#executions.add(execution);
    if (this.#executions.size <= MAX_EXECUTIONS) return;
    const [oldest = execution] = this.#executions;
    this.#executions.delete(oldest);
  }

  addBilled(key: string, route: string, billed: BilledTokens): void {
    const count = this.#row(key, route);
    for (const kind of Object.keys(billed) as (keyof BilledTokens)[]) count[kind] += billed[kind];
  }

  rows(): TallyRow[] {
    return structuredClone([...this.#rows.values()]);
  }

  /** Returns the newest executions, oldest first. */
  executions(): Execution[] {
    return structuredClone([...this.#executions]);
  }

  #row(key: string, route: string): TallyCount {
    const id = JSON.stringify([key, route]);
    const row = this.#rows.get(id) ?? { key, route, count: { ...EMPTY } };
    this.#rows.set(id, row);
    return row.count;
  }
}
