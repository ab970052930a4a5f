import { TOKEN_CLASSES, type Charge, type PriceTerms, type TokenClass } from "./charge.ts";
import type { PriceBook } from "./price-book.ts";

/** Tells times with different prices apart: the prices of a model at an upstream are the same at all times of a slot. */
export type PriceSlots = Pick<PriceBook, "slotOf">;

/** A charge that grows. */
interface Sum extends Charge {
  tokens: Record<TokenClass, number>;
  tools: Record<string, number>;
}

/** Charges with the same terms, added up: together they cost what they cost one by one. */
export class ChargeSums {
  readonly #slots: PriceSlots;
  readonly #sums = new Map<string, Sum>();

  constructor(slots: PriceSlots) {
    this.#slots = slots;
  }

  /** Adds a charge, which is not kept. */
  add(charge: Charge): void {
    const key = this.#keyOf(charge.terms);
    const sum = this.#sums.get(key);
    if (sum === undefined) this.#sums.set(key, copyCharge(charge));
    else addTo(sum, charge);
  }

  /** Returns the sums, in the order in which their terms were first added. */
  all(): Iterable<Charge> {
    return this.#sums.values();
  }

  #keyOf({ upstream, model, at, tier, speed, geo, band, isSum, isOwn, media }: PriceTerms): string {
    const slot = model === null ? 0 : this.#slots.slotOf(upstream, model, at);
    const rest = media.length === 0 ? "" : media.join();
    // Lengths keep names apart that contain the separator.
    return `${upstream.length} ${model?.length} ${upstream} ${model} ${slot} ${band} ${isSum} ${isOwn} ${tier}/${speed}/${geo} ${rest}`;
  }
}

function copyCharge(charge: Charge): Sum {
  // Without a prototype, whatever the names of the tools are.
  const tools = Object.assign(Object.create(null) as Sum["tools"], charge.tools);
  return { ...charge, tokens: copyTokens(charge.tokens), tools };
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
  for (const tool of Object.keys(tools)) sum.tools[tool] = (sum.tools[tool] ?? 0) + (tools[tool] ?? 0);
}
