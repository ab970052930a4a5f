import type { Mutant } from "./mutant.ts";

const NAMES = { row: "C11", test: "test/core/price/names.test.ts" };
const FAMILIES = { row: "C11", test: "test/core/price/families.test.ts" };
const SUMS = { row: "C11", test: "test/core/price/spending.test.ts" };
const BY_HAND = { row: "C11", test: "test/core/price/hand-worked.test.ts" };
const IMPORT = { row: "C11", test: "test/core/price/import-table.test.ts" };

/** Rules on what requests cost, by which budgets in dollars refuse: C11. */
export const PRICES: readonly Mutant[] = [
  {
    ...NAMES,
    without: "telling a later version from the one that its name begins with",
    file: "src/core/price/match.ts",
    find: "last.length + more.length <= 2",
    replace: "last.length + more.length <= 0",
  },
  {
    ...NAMES,
    without: "the prices of the service that a name begins with",
    file: "src/core/price/names.ts",
    find: "provider = PREFIXES[name.slice(0, slash)] ?? provider;",
    replace: "",
  },
  {
    ...FAMILIES,
    without: "the dearest prices where a factor is not known",
    file: "src/core/budget/spent.ts",
    find: "missing.every(isInFamily)",
    replace: "missing.length > 0",
  },
  {
    ...FAMILIES,
    without: "the prices of the time",
    file: "src/core/price/families.ts",
    find: "return alike.flatMap((prices) => pricesAt(prices, at) ?? []);",
    replace: "return alike.flatMap((prices) => [...prices].filter(() => at > 0));",
  },
  {
    ...SUMS,
    without: "doubting sums that were added up by other limits",
    file: "src/core/price/charge-cost.ts",
    find: "longest.price !== shortest.price",
    replace: "longest.price === null",
  },
  {
    ...BY_HAND,
    without: "days without peak prices",
    file: "src/core/price/price-table.ts",
    find: "!weekdays.includes((Math.floor(at / DAY_MS) + FIRST_WEEKDAY) % 7)",
    replace: "weekdays.length === 0",
  },
  {
    ...BY_HAND,
    without: "a limit that the size itself does not exceed",
    file: "src/core/price/rates.ts",
    find: "tiers.findLast(({ above }) => input > above)",
    replace: "tiers.findLast(({ above }) => input >= above)",
  },
  {
    ...IMPORT,
    without: "the built-in prices that are newer than imported ones",
    file: "src/core/price/price-book.ts",
    find: "const isNewer = imported.asOf >= builtIn.asOf;",
    replace: "const isNewer = imported.asOf !== null;",
  },
  {
    ...IMPORT,
    without: "refusing rules that a name could keep busy",
    file: "src/core/price/formats/genai-prices.ts",
    find: "if (regex.length > 400 || /\\)[*+{]/.test(regex)) return false;",
    replace: "",
  },
];
