import { haveSameTerms, sizesWith } from "../../price/charge-sums.ts";
import { TOKEN_CLASSES, type Charge, type PriceTerms, type TokenClass } from "../../price/charge.ts";
import type { PriceSlots } from "../../price/spending.ts";
import type { RollupTerms } from "../rollup.ts";
import { enlarge, PairNumbers } from "./pair-numbers.ts";
import type { SumBlock } from "./sum-block.ts";
import { SumTable } from "./sum-table.ts";

/** What a charge has: its requests, and its tokens by their classes. */
const CHARGED = ["charge_requests", ...TOKEN_CLASSES.map(([name]) => `charged_${name}` as const)] as const;

/** Where the tokens of each class are among these. */
const CHARGED_AT = Object.fromEntries(TOKEN_CLASSES.map(([name], at) => [name, at + 1])) as Record<
  TokenClass,
  number
>;

const NO_CALLS: Charge["tools"] = {};

/** Where a charge is in columns. They are only valid until charges are added. */
export interface PlacedCharge {
  /** The number of its terms. */
  terms: number;
  /** Where its requests are in the sums. Its tokens follow, in the order of the classes. */
  at: number;
  sums: Float64Array;
  tools: Charge["tools"];
}

/** Charges of many places, such as rows: those of a place with the same prices are one. */
export class ChargeTable {
  readonly #slots: PriceSlots;
  readonly #sums = new SumTable(CHARGED.length);
  /** Of each charge its place and its terms. */
  readonly #charges = new PairNumbers();
  /** Calls of tools, by the number of the charge. */
  readonly #calls = new Map<number, Record<string, number>>();
  readonly #terms: PriceTerms[] = [];
  /** By model. Each has so few that a search is faster than any key of all terms. */
  readonly #termNumbers = new Map<string | null, { slot: number; terms: PriceTerms; number: number }[]>();
  /** How many charges {@link #last} and {@link #before} know. */
  #listed = 0;
  /** One more than the number of the last charge of each place, and of the one before each charge; 0 for none. */
  #last = new Int32Array(0);
  #before = new Int32Array(0);

  constructor(slots: PriceSlots) {
    this.#slots = slots;
  }

  /** Returns what decides the price of charges, by its number. */
  termsAt(number: number): PriceTerms {
    const terms = this.#terms[number];
    if (terms === undefined) throw new Error("a charge has terms");
    return terms;
  }

  /**
   * Adds the charges of a block.
   * @param placeOf returns the place of the charges of a group, or of those for its misses of the cache; negative for none
   */
  addBlock({ sums, terms, tools }: SumBlock, placeOf: (group: number, isMissed: boolean) => number): void {
    const numbers = Int32Array.from(terms, (one) => this.#numberOf(decodeTerms(one)));
    const charged = new Int32Array(sums.terms.length).fill(-1);
    const groups = sums.charges.length;
    let next = 0;
    for (let group = 0; group < groups; group += 1) {
      next = this.#addTo(placeOf(group, false), sums.terms, numbers, charged, next, sums.charges[group] ?? 0);
      const missed = sums.missed[group] ?? 0;
      if (missed > 0) next = this.#addTo(placeOf(group, true), sums.terms, numbers, charged, next, missed);
    }
    this.#sums.grow(this.#charges.size);
    for (const [at, name] of CHARGED.entries()) this.#sums.addColumn(at, charged, sums[name]);
    if (tools.length > 1)
      for (const [at, charge] of charged.entries())
        if (charge >= 0) this.#addCalls(charge, tools[sums.tools[at] ?? 0] ?? NO_CALLS);
  }

  /** Adds a charge to those of a place. */
  add(place: number, { terms, requests, tokens, tools }: Charge): void {
    const charge = this.#charges.numberOf(place, this.#numberOf({ ...terms }));
    this.#sums.grow(this.#charges.size);
    const sums = this.#sums.row(charge);
    sums[0] = (sums[0] ?? 0) + requests;
    for (const [name] of TOKEN_CLASSES) sums[CHARGED_AT[name]] = (sums[CHARGED_AT[name]] ?? 0) + tokens[name];
    this.#addCalls(charge, tools);
  }

  /** Returns the charges of a place, in the order of their terms. */
  at(place: number): PlacedCharge[] {
    this.#list();
    const found: PlacedCharge[] = [];
    for (let charge = (this.#last[place] ?? 0) - 1; charge >= 0; charge = (this.#before[charge] ?? 0) - 1)
      found.push(this.#chargeOf(charge));
    return found.length < 2 ? found : found.sort((one, other) => one.terms - other.terms);
  }

  /** Yields all charges with their places, in any order. It is one object, which is for the next charge then. */
  *all(): Generator<PlacedCharge & { place: number }> {
    const { width, all } = this.#sums;
    const one = { place: 0, terms: 0, at: 0, sums: all, tools: NO_CALLS };
    for (let charge = 0; charge < this.#charges.size; charge += 1) {
      one.place = this.#charges.firstOf(charge);
      one.terms = this.#charges.secondOf(charge);
      one.at = charge * width;
      one.tools = this.#calls.get(charge) ?? NO_CALLS;
      yield one;
    }
  }

  /** Returns the sums of the charges of many places, in the order of their terms. */
  totalOf(places: Iterable<number>): Charge[] {
    this.#list();
    const { width, all } = this.#sums;
    const totals = new Map<number, { sums: Float64Array; tools: Record<string, number> }>();
    for (const place of places)
      for (let charge = (this.#last[place] ?? 0) - 1; charge >= 0; charge = (this.#before[charge] ?? 0) - 1) {
        const terms = this.#charges.secondOf(charge);
        let total = totals.get(terms);
        if (total === undefined)
          totals.set(terms, (total = { sums: new Float64Array(width), tools: noCalls() }));
        const first = charge * width;
        for (let at = 0; at < width; at += 1) total.sums[at] = (total.sums[at] ?? 0) + (all[first + at] ?? 0);
        addCalls(total.tools, this.#calls.get(charge) ?? NO_CALLS);
      }
    return [...totals]
      .sort(([one], [other]) => one - other)
      .map(([terms, total]) => this.toCharge({ terms, at: 0, ...total }));
  }

  /** Returns a charge with its terms. */
  toCharge({ terms, sums, at, tools }: PlacedCharge): Charge {
    return { terms: this.termsAt(terms), requests: sums[at] ?? 0, tokens: toTokens(sums, at), tools };
  }

  #chargeOf(charge: number): PlacedCharge {
    return {
      terms: this.#charges.secondOf(charge),
      at: charge * this.#sums.width,
      sums: this.#sums.all,
      tools: this.#calls.get(charge) ?? NO_CALLS,
    };
  }

  /** Notes the numbers of the next charges of a block. Returns where the charges after them are. */
  #addTo(
    place: number,
    terms: ArrayLike<number>,
    numbers: Int32Array,
    charged: Int32Array,
    first: number,
    count: number,
  ): number {
    const end = first + count;
    if (place >= 0)
      for (let at = first; at < end; at += 1)
        charged[at] = this.#charges.numberOf(place, numbers[terms[at] ?? 0] ?? 0);
    return end;
  }

  /** Lists the charges of each place, which are known when all are added. */
  #list(): void {
    const { size } = this.#charges;
    if (this.#listed === size) return;
    this.#before = enlarge(this.#before, size);
    for (; this.#listed < size; this.#listed += 1) {
      const place = this.#charges.firstOf(this.#listed);
      if (place >= this.#last.length) this.#last = enlarge(this.#last, 2 * place + 2);
      this.#before[this.#listed] = this.#last[place] ?? 0;
      this.#last[place] = this.#listed + 1;
    }
  }

  #addCalls(charge: number, more: Charge["tools"]): void {
    if (Object.keys(more).length === 0) return;
    let all = this.#calls.get(charge);
    if (all === undefined) this.#calls.set(charge, (all = noCalls()));
    addCalls(all, more);
  }

  /** Returns the same number for terms that have the same prices. The terms are kept. */
  #numberOf(terms: PriceTerms): number {
    const { upstream, model, ts } = terms;
    if (model !== null) Object.assign(terms, sizesWith(this.#slots.limitsOf(upstream, model), terms));
    const slot = model === null ? 0 : this.#slots.slotOf(upstream, model, ts);
    let known = this.#termNumbers.get(model);
    if (known === undefined) this.#termNumbers.set(model, (known = []));
    const found = known.find((one) => one.slot === slot && haveSameTerms(one.terms, terms));
    if (found !== undefined) return found.number;
    const number = this.#terms.push(terms) - 1;
    known.push({ slot, terms, number });
    return number;
  }
}

/** Returns calls without a prototype, whatever the names of the tools are. */
function noCalls(): Record<string, number> {
  return Object.create(null) as Record<string, number>;
}

function addCalls(all: Record<string, number>, more: Charge["tools"]): void {
  for (const [name, calls] of Object.entries(more)) all[name] = (all[name] ?? 0) + calls;
}

/** Returns the tokens of a charge. Written out, because any loop takes longer than the rest of a row. */
function toTokens(sums: Float64Array, at: number): Charge["tokens"] {
  return {
    input_uncached: sums[at + CHARGED_AT.input_uncached] ?? 0,
    cache_read: sums[at + CHARGED_AT.cache_read] ?? 0,
    cache_write_5m: sums[at + CHARGED_AT.cache_write_5m] ?? 0,
    cache_write_30m: sums[at + CHARGED_AT.cache_write_30m] ?? 0,
    cache_write_1h: sums[at + CHARGED_AT.cache_write_1h] ?? 0,
    cache_write_12h: sums[at + CHARGED_AT.cache_write_12h] ?? 0,
    cache_write_ttl_unknown: sums[at + CHARGED_AT.cache_write_ttl_unknown] ?? 0,
    output: sums[at + CHARGED_AT.output] ?? 0,
  };
}

/** Returns what decides the price of charges, from its short form. */
export function decodeTerms([
  upstream,
  model,
  ts,
  tier,
  speed,
  geo,
  [least, most],
  isSum,
  isOwn,
  certainty,
  media,
]: RollupTerms): PriceTerms {
  return { upstream, model, ts, tier, speed, geo, least, most, isSum, isOwn, certainty, media };
}
