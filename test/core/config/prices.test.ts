import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf, withUpstream } from "../../helpers/config/config-problems.ts";
import { validConfig } from "./valid-config.ts";

const upstream = (prices: object, discount?: number) => ({
  upstreams: {
    default: {
      baseUrl: "https://api.example.com/v1",
      prices,
      ...(discount === undefined ? {} : { discount }),
    },
  },
});

test("prices are one entry or several, which are put into the order of their days", () => {
  const { prices, upstreams } = validConfig({
    prices: {
      "a*": [
        { from: "2026-11-01", input: 2 },
        { input: 3, output: 15 },
        { from: "2026-01-01", input: 2.5 },
      ],
      b: { cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, cacheWrite12h: 8, webSearch: 10 },
    },
    ...upstream({ "*": { input: 0 } }, 12.5),
  });
  assert.deepEqual(
    prices["a*"]?.map(({ from, input }) => [from, input]),
    [
      [undefined, 3],
      ["2026-01-01", 2.5],
      ["2026-11-01", 2],
    ],
  );
  assert.equal(prices["b"]?.[0]?.cacheWrite12h, 8);
  assert.equal(upstreams["default"]?.prices["*"]?.[0]?.input, 0);
  assert.equal(upstreams["default"]?.discount, 12.5);
});

test("without prices there are none, and no discount", () => {
  const { prices, upstreams } = validConfig(withUpstream({}));
  assert.deepEqual(prices, {});
  assert.deepEqual(upstreams["default"]?.prices, {});
  assert.equal(upstreams["default"]?.discount, 0);
});

test("a price that cannot be meant is refused, with its place", () => {
  const cases: [what: string, file: unknown, problem: string][] = [
    ["a price in quotes", { prices: { a: { input: "3" } } }, "prices.a.input: must be a number"],
    ["a negative price", { prices: { a: { input: -1 } } }, "prices.a.input: must not be negative"],
    ["a price per token", { prices: { a: { input: 10_001 } } }, "prices.a.input: must be at most 10000"],
    [
      "a price with too many decimal places",
      { prices: { a: { input: 0.1234567890123 } } },
      "prices.a.input: must have at most 12 decimal places",
    ],
    [
      "an unknown class",
      { prices: { a: { cacheread: 1 } } },
      'prices.a.cacheread: unknown key "cacheread"; did you mean "cacheRead"?',
    ],
    ["no class", { prices: { a: {} } }, 'prices.a: has no price; add one, such as "input": 3'],
    [
      "only a day",
      { prices: { a: { from: "2026-11-01" } } },
      'prices.a: has no price; add one, such as "input": 3',
    ],
    ["no entries", { prices: { a: [] } }, "prices.a: has no prices; add some, or remove it"],
    ["a number", { prices: { a: 3 } }, "prices.a: must be a list: [ ... ], or an object: { ... }"],
    [
      "a day that is none",
      { prices: { a: { from: "2026-02-30", input: 1 } } },
      'prices.a.from: must be a day such as "2026-11-01"',
    ],
    [
      "a time",
      { prices: { a: { from: "2026-02-03T00:00:00Z", input: 1 } } },
      'prices.a.from: must be a day such as "2026-11-01"',
    ],
    [
      "a day twice",
      {
        prices: {
          a: [
            { from: "2026-11-01", input: 1 },
            { from: "2026-11-01", input: 2 },
          ],
        },
      },
      'prices.a: has two entries with the same "from"; remove one',
    ],
    [
      "always twice",
      { prices: { a: [{ input: 1 }, { input: 2 }] } },
      'prices.a: has two entries with the same "from"; remove one',
    ],
    [
      "an empty pattern",
      { prices: { "": { input: 1 } } },
      'prices[""]: must not be empty; "*" stands for any characters',
    ],
    [
      "a price at an upstream",
      upstream({ a: { output: null } }),
      "upstreams.default.prices.a.output: must be a number",
    ],
    ["a discount above 100", upstream({}, 101), "upstreams.default.discount: must be at most 100"],
    [
      "a discount with too many decimal places",
      upstream({}, 33.33333),
      "upstreams.default.discount: must have at most 4 decimal places",
    ],
    ["a surcharge", upstream({}, -5), "upstreams.default.discount: must not be negative"],
  ];
  for (const [what, file, problem] of cases) assert.deepEqual(problemsOf(file), [problem], what);
});
