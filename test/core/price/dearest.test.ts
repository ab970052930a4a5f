import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDecimal } from "../../../src/core/price/money.ts";
import { PriceBook } from "../../../src/core/price/price-book.ts";
import type { PriceTable } from "../../../src/core/price/price-table.ts";
import { validConfig } from "../config/valid-config.ts";

const TABLE: PriceTable = {
  source: "test",
  asOf: "2026-11-23",
  sources: [],
  providers: [
    {
      id: "one",
      api: "https://api\\.one\\.example",
      makes: { starts_with: "one-" },
      alsoServes: ["two"],
      models: [
        {
          id: "one-a",
          match: { equals: "one-a" },
          prices: [
            { rates: { input: 3 } },
            {
              from: "2026-12-01",
              rates: { input: 1, output: { base: 2, tiers: [{ above: 9, price: 40 }] } },
            },
          ],
        },
      ],
    },
    {
      id: "two",
      api: "https://api\\.two\\.example",
      models: [{ id: "two-a", match: { equals: "two-a" }, prices: [{ rates: { input: 7 } }] }],
    },
    {
      id: "three",
      api: "https://three\\.example",
      models: [{ id: "x", match: { equals: "x" }, prices: [{ rates: { input: 900 } }] }],
    },
  ],
};

const dearest = (upstream: object, prices: object = {}) => {
  const config = validConfig({ upstreams: { it: upstream }, prices });
  const found = new PriceBook(config, TABLE).dearest("it");
  return Object.fromEntries(Object.entries(found).map(([name, price]) => [name, formatDecimal(price)]));
};

test("the dearest prices are those of any model of the provider, at any time and size, and of the providers that it serves", () => {
  assert.deepEqual(dearest({ baseUrl: "https://api.one.example/v1" }), { input: "7", output: "40" });
  assert.deepEqual(dearest({ baseUrl: "https://api.two.example/v1" }), { input: "7" });
});

test("at an upstream that the table does not know they are those of all makers", () => {
  assert.deepEqual(dearest({ baseUrl: "https://gateway.example/v1" }), { input: "3", output: "40" });
});

test("configured prices count too, and a discount applies", () => {
  const one = {
    baseUrl: "https://api.one.example/v1",
    prices: { "x*": { input: 8, cacheRead: 0.5 } },
    discount: 12.5,
  };
  assert.deepEqual(dearest(one, { y: { output: 50 } }), { input: "7", cacheRead: "0.4375", output: "43.75" });
});

test("an upstream that takes no key has none, nor has the sandbox", () => {
  assert.deepEqual(dearest({ baseUrl: "http://127.0.0.1:1/v1", auth: "none" }, { y: { output: 50 } }), {});
  assert.deepEqual(new PriceBook(validConfig({}), TABLE).dearest("sandbox"), {});
});
