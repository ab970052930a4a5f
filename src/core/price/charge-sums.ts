import { TOKEN_CLASSES, type Charge, type PriceTerms, type TokenClass } from "./charge.ts";
import type { PriceBook } from "./price-book.ts";

/**
 * Tells times and sizes of prompts with different prices apart: the prices of a model at an upstream are the same at all times of a
 * slot, and for all prompts between two limits.
 */
export type PriceSlots = Pick<PriceBook, "slotOf" | "limitsOf">;

/** A charge that grows. */
interface Sum extends Charge {
  terms: PriceTerms;
  requests: number;
  slot: number;
  tokens: Record<TokenClass, number>;
  tools: Record<string, number>;
}

const NO_SUMS: readonly Sum[] = [];
/** Shared by the charges without calls, which most are, because an object for each would take much memory. */
const NO_CALLS: Record<string, number> = Object.freeze({});
const NO_LIMITS: readonly number[] = [];

/** More than any prompt. */
const ENDLESS = Number.MAX_SAFE_INTEGER;

/** Returns the sizes of the smallest and the largest prompt that are above the same limits as these. Limits are in their order. */
export function sizesWith(
  limits: readonly number[],
  { least, most }: Pick<PriceTerms, "least" | "most">,
): Pick<PriceTerms, "least" | "most"> {
  return { least: leastWith(limits, least), most: mostWith(limits, most) };
}

/** Returns the size of the smallest prompt that is above the same limits. */
function leastWith(limits: readonly number[], prompt: number): number {
  for (let at = limits.length - 1; at >= 0; at -= 1) {
    const limit = limits[at] ?? 0;
    if (prompt > limit) return limit + 1;
  }
  return 0;
}

/** Returns the size of the largest prompt that is above no other limits. */
function mostWith(limits: readonly number[], prompt: number): number {
  for (const limit of limits) if (prompt <= limit) return limit;
  return ENDLESS;
}

/** Charges with the same terms, added up: together they cost what they cost one by one. */
export class ChargeSums {
  readonly #slots: PriceSlots;
  readonly #limit: number;
  #size = 0;
  /** By model. Each has so few that a search is faster than any key of all terms. */
  readonly #sums = new Map<string | null, Sum[]>();

  /** @param limit how many different terms are kept */
  constructor(slots: PriceSlots, limit = Infinity) {
    this.#slots = slots;
    this.#limit = limit;
  }

  /** Adds a charge, which is not kept. Returns false, and leaves it out, when its terms would be too many. */
  add(charge: Charge): boolean {
    const { upstream, model, ts } = charge.terms;
    const slot = model === null ? 0 : this.#slots.slotOf(upstream, model, ts);
    const limits = model === null ? NO_LIMITS : this.#slots.limitsOf(upstream, model);
    const least = leastWith(limits, charge.terms.least);
    const most = mostWith(limits, charge.terms.most);
    const sums = this.#sums.get(model);
    for (const sum of sums ?? NO_SUMS)
      if (
        sum.slot === slot &&
        sum.terms.least === least &&
        sum.terms.most === most &&
        areAlike(sum.terms, charge.terms)
      ) {
        addTo(sum, charge);
        return true;
      }
    if (this.#size >= this.#limit) return false;
    this.#size += 1;
    const sum = copyCharge(charge, slot);
    if (least !== charge.terms.least || most !== charge.terms.most)
      sum.terms = { ...charge.terms, least, most };
    if (sums === undefined) this.#sums.set(model, [sum]);
    else sums.push(sum);
    return true;
  }

  /** Returns the sums, those of a model after one another. */
  all(): readonly Charge[] {
    return [...this.#sums.values()].flat();
  }
}

/** True for terms of one model, with sizes by its limits, whose prices are the same, if those of their times are. */
export function haveSameTerms(one: PriceTerms, other: PriceTerms): boolean {
  return one.least === other.least && one.most === other.most && areAlike(one, other);
}

/** The same whatever the sizes are. */
function areAlike(one: PriceTerms, other: PriceTerms): boolean {
  return (
    one.isSum === other.isSum &&
    one.isOwn === other.isOwn &&
    one.certainty === other.certainty &&
    one.upstream === other.upstream &&
    one.tier === other.tier &&
    one.speed === other.speed &&
    one.geo === other.geo &&
    (one.media === other.media || one.media.join() === other.media.join())
  );
}

function copyCharge({ terms, requests, tokens, tools }: Charge, slot: number): Sum {
  const sum = { terms, requests, slot, tokens: copyTokens(tokens), tools: NO_CALLS };
  addCalls(sum, tools);
  return sum;
}

function copyTokens(tokens: Charge["tokens"]): Sum["tokens"] {
  return {
    input_uncached: tokens.input_uncached,
    cache_read: tokens.cache_read,
    cache_write_5m: tokens.cache_write_5m,
    cache_write_30m: tokens.cache_write_30m,
    cache_write_1h: tokens.cache_write_1h,
    cache_write_12h: tokens.cache_write_12h,
    cache_write_ttl_unknown: tokens.cache_write_ttl_unknown,
    output: tokens.output,
  };
}

function addTo(sum: Sum, { requests, tokens, tools }: Charge): void {
  sum.requests += requests;
  for (const [name] of TOKEN_CLASSES) sum.tokens[name] += tokens[name];
  addCalls(sum, tools);
}

function addCalls(sum: Sum, more: Charge["tools"]): void {
  for (const [tool, calls] of Object.entries(more)) {
    // Without a prototype, whatever the names of the tools are.
    if (sum.tools === NO_CALLS) sum.tools = Object.create(null) as Sum["tools"];
    sum.tools[tool] = (sum.tools[tool] ?? 0) + calls;
  }
}
