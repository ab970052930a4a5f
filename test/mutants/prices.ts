import type { Mutant } from "./mutant.ts";

const BY_HAND = { row: "prices", test: "test/core/price/hand-worked.test.ts" };
const DEAREST = { row: "prices", test: "test/core/price/dearest.test.ts" };
const EXPLAINED = { row: "prices", test: "test/core/ledger/explain/request-cost.test.ts" };
const FAMILIES = { row: "prices", test: "test/core/price/families.test.ts" };
const MISSED = { row: "prices", test: "test/core/price/missed.test.ts" };
const INFERRED = { row: "prices", test: "test/core/misses/conversations.test.ts" };
const MONEY = { row: "prices", test: "test/core/price/money.test.ts" };
const NAMES = { row: "prices", test: "test/core/price/names.test.ts" };
const SPENDING = { row: "prices", test: "test/core/price/spending.test.ts" };

/** What requests cost, and how sure that is, beyond what C11 needs. */
export const PRICE_SUMS: readonly Mutant[] = [
  {
    ...MONEY,
    without: "rounding half to even",
    file: "src/core/price/money.ts",
    find: "twice > by || (twice === by && quotient % 2n === 1n)",
    replace: "twice >= by",
  },
  {
    ...MONEY,
    without: "the digits of an amount below a cent",
    file: "src/core/price/money.ts",
    find: "Math.max(2, MONEY_SCALE + 3 - length)",
    replace: "Math.max(2, 2 - length)",
  },
  {
    ...MONEY,
    without: "showing in a column that something was spent",
    file: "src/core/price/money.ts",
    find: "amount > 0n && 2n * amount <= smallest",
    replace: "amount < 0n && 2n * amount <= smallest",
  },
  {
    ...FAMILIES,
    without: "the prices of a line of models where the family is unknown",
    file: "src/core/price/families.ts",
    find: "this.#byFamily.get(family) ?? this.#byLine.get(line) ?? []",
    replace: "this.#byFamily.get(family) ?? this.#byLine.get(family) ?? []",
  },
  {
    ...FAMILIES,
    without: "the sizes of prompts for which the dearest price is sought",
    file: "src/core/price/dearest.ts",
    find: "rate.tiers.filter(({ above }) => most > above)",
    replace: "rate.tiers.filter(({ above }) => above >= 0)",
  },
  {
    ...DEAREST,
    without: "the discount of an upstream on the dearest prices",
    file: "src/core/price/dearest.ts",
    find: "dearest[name] = multiplyDecimals(price, discounted);",
    replace: "dearest[name] = price;",
  },
  {
    ...BY_HAND,
    without: "the prices of the configuration before those of the table",
    file: "src/core/price/price-book.ts",
    find: "const rates = own ?? pricesAt(table, at);",
    replace: "const rates = pricesAt(table, at) ?? own;",
  },
  {
    ...BY_HAND,
    without: "nothing to pay where no key is needed",
    file: "src/core/price/price-book.ts",
    find: `if (own === undefined && seller.isFree) return "free";`,
    replace: "",
  },
  {
    ...BY_HAND,
    without: "modifiers that are for short prompts only",
    file: "src/core/price/modifiers.ts",
    find: "!(isLong && isShortOnly === true)",
    replace: "!(isLong && isShortOnly === undefined)",
  },
  {
    ...BY_HAND,
    without: "doubting a price whose modifier is unknown",
    file: "src/core/price/modifiers.ts",
    find: "if (modifier === undefined) unknown.push(what);\n    else factors.push(",
    replace: "if (modifier !== undefined) factors.push(",
  },
  {
    ...BY_HAND,
    without: "the region that a host names",
    file: "src/core/price/modifiers.ts",
    find: "region: match[1] ?? null",
    replace: "region: null",
  },
  {
    ...BY_HAND,
    without: "doubting cache writes of unknown lifetime",
    file: "src/core/price/charge-cost.ts",
    find: `if (name === "cache_write_ttl_unknown" && hasDearerWrites(found)) this.#isLowerBound = true;`,
    replace: "",
  },
  {
    ...BY_HAND,
    without: "the dearer cache writes of an hour",
    file: "src/core/price/known-rules.ts",
    find: "{ cacheWrite1h: twice(input) }",
    replace: "{ cacheWrite1h: input }",
  },
  {
    ...NAMES,
    without: "leaving out the date at the end of a name",
    file: "src/core/price/names.ts",
    find: `[/-20\\d{2}-?\\d{2}-?\\d{2}$/, ""],`,
    replace: "",
  },
  {
    ...NAMES,
    without: "the region before a model of Bedrock",
    file: "src/core/price/names.ts",
    find: "if (REGION.test(name) || BEDROCK_MAKER.test(name))",
    replace: "if (BEDROCK_MAKER.test(name))",
  },
  {
    ...SPENDING,
    without: "a lower bound where charges were left out",
    file: "src/core/price/spending.ts",
    find: "this.#billed, this.#leftOut === 0",
    replace: "this.#billed, true",
  },
  {
    ...SPENDING,
    test: "test/core/price/spending/unit-prices.test.ts",
    without: "what has no price, in a price for many charges",
    file: "src/core/price/spending/unit-prices.ts",
    find: "if (price.missing.length > 0) missing = merge(missing, price.missing);",
    replace: "",
  },
  {
    ...SPENDING,
    without: "what was paid, less than what caches saved",
    file: "src/core/price/charge-cost.ts",
    find: "this.#saved += priceOf(count, price, 6, values) - amount;",
    replace: "this.#saved += priceOf(count, price, 6, values);",
  },
  {
    ...SPENDING,
    without: "bills of services",
    file: "src/core/price/spending.ts",
    find: "this.#billed += parseMoney(billed) ?? 0n;",
    replace: "void billed;",
  },
  {
    ...EXPLAINED,
    without: "the worth of what a plan paid, line by line",
    file: "src/core/price/cost.ts",
    find: "hasSpentNothing(record) ? FREE : reckon(record, prices, priceWorth)",
    replace:
      "hasSpentNothing(record) ? FREE : reckon(record, prices, record.billed_usd === null ? priceCharge : priceWorth)",
  },
  {
    ...EXPLAINED,
    without: "the usage that a later fetch brought",
    file: "src/core/ledger/explain/request-cost.ts",
    find: "(background?.source ?? record)",
    replace: "record",
  },
  {
    ...EXPLAINED,
    without: "a plan's requests for nothing, whatever they name",
    file: "src/core/price/cost.ts",
    find: "isPlanUpstream(record.upstream) ? FREE",
    replace: 'isPlanUpstream("") ? FREE',
  },
  {
    ...MISSED,
    without: "what reading the tokens of a miss from the cache would have cost",
    file: "src/core/price/missed.ts",
    find: "sumOf(paid.lines) - sumOf(hit.lines)",
    replace: "sumOf(paid.lines)",
  },
  {
    ...MISSED,
    without: "counting no more tokens of a miss than were paid",
    file: "src/core/price/missed.ts",
    find: "Math.min(left, tokens[name])",
    replace: "left",
  },
  {
    ...MISSED,
    without: "keeping what plans paid for misses out of the cost",
    file: "src/core/price/missed.ts",
    find: "if (isPlan) worth = (worth ?? 0n) + lost;",
    replace: "if (isPlan) amount += lost;",
  },
  {
    ...INFERRED,
    without: "blaming time for what has expired",
    file: "src/core/misses/compare.ts",
    find: "if (idle !== null) return idle;",
    replace: "",
  },
  {
    ...INFERRED,
    without: "leaving changed tools out where something behind them was read",
    file: "src/core/misses/compare.ts",
    find: 'hasChanged("tools") && later.read === 0',
    replace: 'hasChanged("tools")',
  },
  {
    ...INFERRED,
    without: "the lifetime that a mark asks for",
    file: "src/core/misses/part-hasher.ts",
    find: "includes(ONE_HOUR) ? MARK_1H : MARK_5M",
    replace: "includes(ONE_HOUR) ? MARK_5M : MARK_5M",
  },
  {
    ...INFERRED,
    without: "learning which changes do no harm",
    file: "src/core/misses/conversations.ts",
    find: "this.#agent.harmless[part] = true",
    replace: "this.#agent.harmless[part] = false",
  },
  {
    ...INFERRED,
    without: "leaving out a request to which the response has begun",
    file: "src/core/misses/conversations.ts",
    find: "return !this.#hasBegun && this.asking.isStream;",
    replace: "return this.asking.isStream;",
  },
  {
    ...INFERRED,
    without: "leaving the attribution of Claude Code out of the system prompt",
    file: "src/core/misses/prompt.ts",
    find: "if (isFound && byte === OPEN_BRACE) this.#hasher.passOver();",
    replace: "if (isFound && byte === OPEN_BRACE) this.#hasher.markUnsure();",
  },
  {
    ...INFERRED,
    without: "taking a message that was rewritten with its mark for the same",
    file: "src/core/misses/compare.ts",
    find: "isMarkedAlike && differs(",
    replace: "differs(",
  },
  {
    ...INFERRED,
    without: "counting no more than the prompt has",
    file: "src/core/misses/conversations.ts",
    find: "Math.min(cached, input) - read",
    replace: "cached - read",
  },
];
