import type { SummableRecord } from "../ledger/record.ts";
import { classify } from "../ledger/spend.ts";
import type { Outcome } from "../usage/reading.ts";
import { COUNTED_AS, ERROR_TYPE, errorTypeOf, OUTCOME } from "./exchange-attributes.ts";
import type { Attributes } from "./metric.ts";

/** What tells the requests of a series apart. */
interface RequestKind {
  countedAs: ReturnType<typeof classify>;
  outcome: Outcome;
  error: string | null;
}

/** How many requests ended in which way. */
export type EncodedRequests = readonly (RequestKind & { count: number })[];

/** Counts the requests of a series by how they ended and how they count. All of these are words of ours, so they are few. */
export class RequestCounts {
  readonly #counts = new Map<string, RequestKind & { attributes: Attributes; count: number }>();

  constructor(encoded: EncodedRequests = []) {
    for (const { count, ...kind } of encoded) this.#at(kind).count = count;
  }

  add(record: SummableRecord): void {
    const { outcome } = record;
    this.#at({ countedAs: classify(record), outcome, error: errorTypeOf(record) }).count += 1;
  }

  /** Returns each count with its attributes. */
  all(): Iterable<{ attributes: Attributes; count: number }> {
    return this.#counts.values();
  }

  encode(): EncodedRequests {
    return Array.from(this.#counts.values(), ({ countedAs, outcome, error, count }) => {
      return { countedAs, outcome, error, count };
    });
  }

  #at(kind: RequestKind): { count: number } {
    const { countedAs, outcome, error } = kind;
    const key = `${countedAs} ${outcome} ${error}`;
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const attributes = {
      [COUNTED_AS]: countedAs,
      [OUTCOME]: outcome,
      ...(error !== null && { [ERROR_TYPE]: error }),
    };
    const added = { ...kind, attributes, count: 0 };
    this.#counts.set(key, added);
    return added;
  }
}
