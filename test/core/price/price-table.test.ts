import assert from "node:assert/strict";
import { test } from "node:test";
import { matches, type Match } from "../../../src/core/price/match.ts";
import {
  findModel,
  findProvider,
  pricesAt,
  type PriceTable,
  type Provider,
} from "../../../src/core/price/price-table.ts";
import { RATE_CLASSES } from "../../../src/core/price/rate-class.ts";
import { priceTable } from "../../helpers/ledger/prices.ts";

test("each kind of rule matches what it says", () => {
  const cases: [rule: Match, name: string, expected: boolean][] = [
    [{ equals: "GLM-5" }, "glm-5", true],
    [{ equals: "glm-5" }, "glm-5-air", false],
    [{ starts_with: "Kimi" }, "kimi-k2", true],
    [{ starts_with: "kimi" }, "my-kimi", false],
    [{ ends_with: "-Free" }, "x-free", true],
    [{ ends_with: "-free" }, "free-x", false],
    [{ contains: "GROK" }, "my-grok-4", true],
    [{ contains: "grok" }, "groq", false],
    [{ regex: "^o[134]" }, "o3-mini", true],
    [{ regex: "^o[134]" }, "o2", false],
    [{ or: [{ equals: "a" }, { equals: "b" }] }, "b", true],
    [{ or: [{ equals: "a" }, { equals: "b" }] }, "c", false],
    [{ and: [{ starts_with: "a" }, { ends_with: "z" }] }, "a-z", true],
    [{ and: [{ starts_with: "a" }, { ends_with: "z" }] }, "a-y", false],
    // Another version number follows, so it is another model. A date is not a version.
    [{ starts_with: "claude-sonnet-5" }, "claude-sonnet-5", true],
    [{ starts_with: "claude-sonnet-5" }, "claude-sonnet-5-5", false],
    [{ starts_with: "claude-sonnet-5" }, "claude-sonnet-5.5", false],
    [{ starts_with: "claude-sonnet-5" }, "claude-sonnet-5-12-fast", false],
    [{ starts_with: "claude-sonnet-5" }, "claude-sonnet-5-20260930", true],
    [{ starts_with: "claude-sonnet-5" }, "claude-sonnet-5-latest", true],
    [{ starts_with: "claude-sonnet-4-" }, "claude-sonnet-4-5", true],
    [{ starts_with: "gemini-flash" }, "gemini-flash-2", true],
  ];
  for (const [rule, name, expected] of cases)
    assert.equal(matches(rule, name), expected, JSON.stringify([rule, name]));
});

const PRICES = [{ rates: { input: 1 } }];
const maker: Provider = {
  id: "maker",
  api: String.raw`https://api\.maker\.example`,
  makes: { starts_with: "m-" },
  models: [{ id: "m-2026-01-31", match: { equals: "m-2026-01-31" }, prices: PRICES }],
};
const host: Provider = {
  id: "host",
  api: String.raw`https://(?:eu\.)?host\.example`,
  alsoServes: ["maker"],
  models: [{ id: "own", match: { equals: "own" }, prices: PRICES }],
};
const shop: Provider = {
  id: "shop",
  api: String.raw`https://shop\.example`,
  models: [{ id: "m-1", match: { equals: "m-1" }, prices: PRICES }],
};
const table: PriceTable = { source: "test", asOf: "2026-11-23", sources: [], providers: [host, shop, maker] };

test("a provider is found by the beginning of a base URL", () => {
  assert.equal(findProvider(table, "https://eu.host.example/v1")?.id, "host");
  assert.equal(findProvider(table, "https://proxy.example/https://host.example"), null);
});

const find = (provider: Provider | null, name: string) => {
  const found = findModel(table, provider, name);
  return found === null ? null : `${found.provider}/${found.model.id}`;
};

test("at a known provider only its own prices count, and those of the makers that it also serves", () => {
  assert.equal(find(host, "own"), "host/own");
  assert.equal(find(host, "m-2026-01-31"), "host/m-2026-01-31");
  assert.equal(find(shop, "m-1"), "shop/m-1");
  assert.equal(find(shop, "m-2026-01-31"), null);
  // At an unknown one it is the maker's price, never that of somebody who serves the model, too.
  assert.equal(find(null, "m-2026-01-31"), "maker/m-2026-01-31");
  assert.equal(find(null, "m-1"), null);
  assert.equal(find(null, "own"), null);
  assert.equal(find(null, " M-20260131 "), "maker/m-2026-01-31");
});

test("the last prices that apply count, or else the first", () => {
  const dated = [
    { name: "old" },
    { name: "new", since: Date.parse("2026-03-13") },
    { name: "night", between: [79_200, 7200] as const },
    { name: "noon", between: [43_200, 46_800] as const },
  ];
  const at = (time: string) => pricesAt(dated, Date.parse(time))?.name;
  assert.equal(at("2026-03-12T21:59:59.999Z"), "old");
  assert.equal(at("2026-03-13T21:59:59.999Z"), "new");
  assert.equal(at("2026-03-13T22:00:00.000Z"), "night");
  assert.equal(at("2026-03-13T01:59:59.000Z"), "night");
  assert.equal(at("2026-03-13T02:00:00.000Z"), "new");
  assert.equal(at("2026-03-13T12:00:00.000Z"), "noon");
  assert.equal(at("2026-03-13T13:00:00.000Z"), "new");
  assert.equal(pricesAt([{ name: "later", since: Date.parse("2027-01-01") }], 0)?.name, "later");
  assert.equal(pricesAt([], 0), undefined);
});

test("the real table has the large services, and no price that is not a number >= 0", () => {
  const ids = priceTable.providers.map(({ id }) => id);
  for (const id of ["anthropic", "openai", "google", "x-ai", "openrouter", "deepseek"])
    assert.ok(ids.includes(id), id);
  assert.match(priceTable.source, /^@pydantic\/genai-prices \d/);
  assert.ok(!Number.isNaN(Date.parse(priceTable.asOf)));
  for (const { id, models } of priceTable.providers) {
    for (const { id: model, prices } of models) {
      for (const { rates } of prices) {
        for (const name of RATE_CLASSES) {
          const price = rates[name] ?? 0;
          const all =
            typeof price === "number" ? [price] : [price.base, ...price.tiers.map((tier) => tier.price)];
          assert.ok(
            all.every((one) => Number.isFinite(one) && one >= 0),
            `${id}/${model}`,
          );
        }
      }
    }
  }
});
