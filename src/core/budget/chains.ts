import type { SummableRecord } from "../ledger/record.ts";
import { ASSUMED_CONTEXT } from "./budget-request.ts";

/** How many responses are remembered that a request may continue. Ids are the service's own. */
const MAX_RESPONSES = 2_000;

/** How large the conversations are that responses belong to: a request that continues one has it as input (`previous_response_id`). */
export class Chains {
  /** Tokens by the id of the response. The latest is the last one. */
  readonly #contexts = new Map<string, number>();

  add({ response_id: id, route, tokens }: Pick<SummableRecord, "response_id" | "route" | "tokens">): void {
    if (id === null || tokens === null || !route.startsWith("/responses")) return;
    const { input_uncached: uncached, cache_read: read, cache_write: written, output } = tokens;
    this.#contexts.delete(id);
    this.#contexts.set(id, uncached + read + written + output);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > MAX_RESPONSES && oldest !== undefined) this.#contexts.delete(oldest);
  }

  /** Returns how many tokens of input a request has besides its body. What is not known is assumed. */
  contextOf(previous: string | null): number {
    return previous === null ? 0 : (this.#contexts.get(previous) ?? ASSUMED_CONTEXT);
  }
}
