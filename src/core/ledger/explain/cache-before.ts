import type { SummableRecord, SummableTokens, UsageRecord } from "../record.ts";

/** So many requests before one are looked at. */
const MOST_BEFORE = 8;

/** How much of the input of some requests was read from a cache. */
export interface CacheShare {
  requests: number;
  read: number;
  input: number;
  /** When the last of them ended, in milliseconds since 1970. */
  endedAt: number;
}

/**
 * What the last requests before one read from the cache: those of the same agent in the same session, for the same model, because each has
 * a cache of its own. They are given in the ledger's order, and are earlier.
 */
export class CacheBefore {
  readonly #record: UsageRecord;
  readonly #last: SummableTokens[] = [];
  #endedAt = 0;

  constructor(record: UsageRecord) {
    this.#record = record;
  }

  add(other: SummableRecord): void {
    if (other.tokens === null || !isSameAgent(other, this.#record)) return;
    this.#last.push(other.tokens);
    this.#endedAt = Date.parse(other.ts) + other.duration_ms;
    if (this.#last.length > MOST_BEFORE) this.#last.shift();
  }

  /** Returns the share; null without a session, and without a request before it. */
  share(): CacheShare | null {
    if (this.#last.length === 0) return null;
    const read = this.#last.reduce((sum, tokens) => sum + tokens.cache_read, 0);
    const input = this.#last.reduce((sum, tokens) => sum + inputOf(tokens), 0);
    return { requests: this.#last.length, read, input, endedAt: this.#endedAt };
  }
}

function isSameAgent(one: SummableRecord, other: UsageRecord): boolean {
  return (
    other.session !== null &&
    one.session === other.session &&
    one.tool === other.tool &&
    one.agent === other.agent &&
    one.agent_kind === other.agent_kind &&
    one.model === other.model &&
    one.model_requested === other.model_requested
  );
}

/** Returns all input tokens, cached ones included. */
export function inputOf(
  tokens: Pick<SummableTokens, "input_uncached" | "cache_read" | "cache_write">,
): number {
  return tokens.input_uncached + tokens.cache_read + tokens.cache_write;
}
