import type { SummableRecord } from "../ledger/record.ts";
import { isPaidByTool } from "../plans/names.ts";
import { priceCharge, priceWorth } from "./charge-cost.ts";
import { ChargeSums, type PriceSlots } from "./charge-sums.ts";
import { chargesOf, NO_TOKENS, type Charge, type TokenClass } from "./charge.ts";
import type { Money } from "./money.ts";
import type { PriceBook } from "./price-book.ts";

/** What misses of the cache cost more than hits would have. */
export interface MissedCost {
  amount: Money;
  /** The part that tools paid, with plans or their own keys, at the prices of a key of ours: in no other sum. null where none did. */
  worth: Money | null;
  /** False when it is more, or may be: something has no price, was billed by the service, or its tokens are a lower bound. */
  isExact: boolean;
}

/** {@link MissedSpending} as data. */
export interface EncodedMissed {
  charges: readonly Charge[];
  isWhole: boolean;
}

/**
 * Which classes the tokens of a miss were paid as, in this order: what was not read was written again, a longer lifetime before a shorter one, as the
 * services want them in a prompt. The rest was not cached.
 */
const PAID_AS = [
  "cache_write_12h",
  "cache_write_1h",
  "cache_write_30m",
  "cache_write_ttl_unknown",
  "cache_write_5m",
  "input_uncached",
] as const satisfies readonly TokenClass[];

/** The tokens of many misses, by what decides their price. */
export class MissedSpending {
  readonly #charges: ChargeSums;
  #isWhole = true;

  constructor(slots: PriceSlots) {
    this.#charges = new ChargeSums(slots);
  }

  /** Adds a request that missed. */
  add(record: SummableRecord): void {
    const charge = missedCharge(record);
    if (charge === null) this.#isWhole = false;
    else this.#charges.add(charge);
  }

  addAll(other: MissedSpending): void {
    this.addEncoded(other.encode());
  }

  /** Returns it as data that JSON can represent. */
  encode(): EncodedMissed {
    return { charges: this.#charges.all(), isWhole: this.#isWhole };
  }

  addEncoded({ charges, isWhole }: EncodedMissed): void {
    for (const charge of charges) this.#charges.add(charge);
    this.#isWhole &&= isWhole;
  }

  /** Returns what was paid for the tokens, less what reading them from the cache would have cost. */
  cost(prices: PriceBook): MissedCost {
    let [amount, worth, isExact]: [Money, Money | null, boolean] = [0n, null, this.#isWhole];
    for (const charge of this.#charges.all()) {
      const isWorth = isPaidByTool(charge.terms.upstream);
      const price = isWorth ? priceWorth : priceCharge;
      const [paid, hit] = [price(charge, prices), price(asRead(charge), prices)];
      if (paid.missing.length + hit.missing.length > 0) {
        isExact = false;
        continue;
      }
      if (paid.certainty !== "exact") isExact = false;
      const more = sumOf(paid.lines) - sumOf(hit.lines);
      // A price of the configuration may make reading dearer.
      const lost = more > 0n ? more : 0n;
      if (isWorth) worth = (worth ?? 0n) + lost;
      else amount += lost;
    }
    return { amount, worth, isExact };
  }
}

/** Returns what one request cost more than if it had hit the cache; null for one that did not miss it. */
export function missedCostOf(record: SummableRecord, prices: PriceBook): MissedCost | null {
  if (record.miss === null) return null;
  const spending = new MissedSpending(prices);
  spending.add(record);
  return spending.cost(prices);
}

/** Returns null where the service says what it charged, or the tokens are not known. The prompt's size stays that of all of it. */
function missedCharge(record: SummableRecord): Charge | null {
  const [own] = chargesOf(record).own;
  const { tokens, miss_tokens: missed } = record;
  if (own === undefined || tokens === null || missed === null) return null;
  const paid = { ...NO_TOKENS };
  let left = missed;
  for (const name of PAID_AS) {
    const count = Math.min(left, tokens[name]);
    paid[name] = count;
    left -= count;
  }
  return { terms: { ...own.terms, isOwn: false, media: [] }, requests: 1, tokens: paid, tools: {} };
}

function asRead(charge: Charge): Charge {
  const read = PAID_AS.reduce((sum, name) => sum + charge.tokens[name], 0);
  return { ...charge, tokens: { ...NO_TOKENS, cache_read: read } };
}

function sumOf(lines: readonly { amount: Money }[]): Money {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}
