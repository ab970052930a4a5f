import assert from "node:assert/strict";
import { test } from "node:test";
import { priceSettingsOf } from "../../../src/core/config/config.ts";
import { importTable } from "../../../src/core/price/import-table.ts";
import { formatDecimal } from "../../../src/core/price/money.ts";
import { PriceBook } from "../../../src/core/price/price-book.ts";
import type { PriceTable } from "../../../src/core/price/price-table.ts";
import type { RateClass } from "../../../src/core/price/rate-class.ts";
import { priceTable } from "../../helpers/ledger/prices.ts";
import { validConfig } from "../config/valid-config.ts";

const DAY = "2026-11-28";
const NOW = Date.parse("2026-11-29T12:00:00Z");
const BEFORE = Date.parse("2026-11-27T12:00:00Z");

const read = (data: unknown) => importTable(data, priceTable, { name: "prices.json", day: DAY });

function bookWith(table: PriceTable | null): PriceBook {
  const config = validConfig({
    upstreams: {
      anthropic: { baseUrl: "https://api.anthropic.com/v1" },
      openai: { baseUrl: "https://api.openai.com/v1" },
      bedrock: { baseUrl: "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1" },
      newco: { baseUrl: "https://api.newco.example/v1" },
      gateway: { baseUrl: "https://gateway.example/v1" },
    },
  });
  return new PriceBook(priceSettingsOf(config), priceTable, table);
}

const countModels = (table: PriceTable) =>
  table.providers.reduce((sum, { models }) => sum + models.length, 0);

/** A model whose price is by the time of the day, in seconds. */
const timed = (id: string, between: [number, number]) => ({
  id,
  match: { equals: id },
  prices: [{ rates: { input: 1 } }, { between, rates: { input: 2 } }],
});

/** Prices of a class, tiers included, and the source, as text. */
function shown(
  table: PriceTable | null,
  upstream: string,
  model: string,
  name: RateClass = "input",
  at = NOW,
): string {
  const found = bookWith(table).find(upstream, model, at);
  if (found === null || found === "free") return String(found);
  const rate = found.classes[name];
  if (rate === undefined) return "no price";
  const tiers = rate.tiers.map(({ above, price }) => `, ${formatDecimal(price)} above ${above}`).join("");
  return `${formatDecimal(rate.base)}${tiers} (${found.source?.name})`;
}

const LITELLM = {
  sample_spec: { litellm_provider: "one of …", input_cost_per_token: 0 },
  "claude-sonnet-6": {
    litellm_provider: "anthropic",
    input_cost_per_token: 0.000003,
    input_cost_per_token_above_200k_tokens: 0.000006,
    output_cost_per_token: 0.000015,
    cache_read_input_token_cost: 3e-7,
    cache_creation_input_token_cost: 0.00000375,
    cache_creation_input_token_cost_above_1hr: 0.000006,
    search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_high: 0.01 },
    max_input_tokens: 1_000_000,
  },
  "us.anthropic.claude-sonnet-6-v1:0": {
    litellm_provider: "bedrock_converse",
    input_cost_per_token: 0.0000033,
  },
  "bedrock/eu-west-1/anthropic.claude-sonnet-6": {
    litellm_provider: "bedrock",
    input_cost_per_token: 0.000004,
  },
  // 0 for want of a price, and a model that is free.
  "gemini/gemini-9": { litellm_provider: "gemini", input_cost_per_token: 0, output_cost_per_token: 0 },
  "openrouter/some/model:free": {
    litellm_provider: "openrouter",
    input_cost_per_token: 0,
    output_cost_per_token: 0,
  },
  "openai/container": { litellm_provider: "openai", code_interpreter_cost_per_session: 0.03 },
  broken: { litellm_provider: "openai", input_cost_per_token: "cheap" },
};

const MODELS_DEV = {
  anthropic: {
    models: {
      "claude-sonnet-6": {
        cost: {
          input: 3,
          output: 15,
          cache_read: 0.3,
          cache_write: 3.75,
          tiers: [{ input: 6, output: 22.5, tier: { type: "context", size: 150_000 } }],
          context_over_200k: { input: 99, output: 99 },
        },
        limit: { context: 1_000_000 },
      },
    },
  },
  google: {
    models: { "gemini-5": { cost: { input: 2, output: 9, context_over_200k: { input: 4, output: 12 } } } },
  },
  newco: { api: "https://api.newco.example/v1", models: { "nova-1": { cost: { input: 1, output: 2 } } } },
  nowhere: { models: { lost: { cost: { input: 1, output: 2 } } } },
  plan: { models: { free: { cost: { input: 0, output: 0 } } } },
  odd: {
    api: "https://odd.example",
    models: { x: { cost: { input: 1, tiers: [{ tier: { type: "hours" } }] } } },
  },
};

const GENAI = [
  {
    id: "openai",
    api_pattern: "https://elsewhere",
    models: [
      {
        id: "gpt-9",
        match: { starts_with: "gpt-9" },
        prices: { input_mtok: { base: 2, tiers: [{ start: 9, price: 4 }] } },
      },
      { id: "slow", match: { regex: "^(a+)+$" }, prices: { input_mtok: 1 } },
    ],
  },
];

test("LiteLLM's list is read: prices per token, tiers, an hour's cache writes, and Bedrock's regions", () => {
  const found = read(LITELLM);
  assert.equal(found?.format, "LiteLLM");
  assert.equal(found.table.asOf, DAY);
  assert.equal(shown(found.table, "anthropic", "claude-sonnet-6"), "3, 6 above 200000 (prices.json)");
  assert.equal(shown(found.table, "anthropic", "claude-sonnet-6", "cacheWrite1h"), "6 (prices.json)");
  assert.equal(shown(found.table, "anthropic", "claude-sonnet-6", "webSearch"), "10 (prices.json)");
  assert.equal(shown(found.table, "bedrock", "us.anthropic.claude-sonnet-6-v1:0"), "3.3 (prices.json)");
  assert.equal(
    shown(found.table, "gateway", "openrouter/anthropic/claude-sonnet-6"),
    "3, 6 above 200000 (prices.json)",
  );
  assert.deepEqual(found.leftOut, [
    "bedrock/eu-west-1/anthropic.claude-sonnet-6",
    "gemini/gemini-9",
    "broken",
  ]);
  assert.equal(shown(found.table, "gateway", "openrouter/some/model:free"), "0 (prices.json)");
});

test("models.dev's list is read: tiers before the older limit, new services by their address, and no plans", () => {
  const found = read(MODELS_DEV);
  assert.equal(found?.format, "models.dev");
  assert.equal(shown(found.table, "anthropic", "claude-sonnet-6"), "3, 6 above 150000 (prices.json)");
  // Twice the input, as Anthropic says.
  assert.equal(
    shown(found.table, "anthropic", "claude-sonnet-6", "cacheWrite1h"),
    "6, 12 above 150000 (prices.json)",
  );
  assert.equal(shown(found.table, "gateway", "google/gemini-5"), "2, 4 above 200000 (prices.json)");
  assert.equal(shown(found.table, "newco", "nova-1"), "1 (prices.json)");
  assert.deepEqual(found.leftOut, ["odd: x", "nowhere: 1 models of a service without an address"]);
});

test("genai-prices' data is read, without a rule that a name could keep busy, and with the hosts that are known", () => {
  const found = read(GENAI);
  assert.equal(found?.format, "genai-prices");
  assert.equal(shown(found.table, "openai", "gpt-9"), "2, 4 above 9 (prices.json)");
  assert.equal(shown(found.table, "openai", "gpt-9-1"), "null");
  assert.deepEqual(found.leftOut, ["openai: slow"]);
});

test("a table of our own is read as it was written, with its day", () => {
  const found = read(JSON.parse(JSON.stringify(priceTable)));
  assert.equal(found?.format, "a table of tollkeeper's");
  assert.equal(found.table.asOf, priceTable.asOf);
  assert.deepEqual(found.leftOut, []);
  assert.equal(countModels(found.table), countModels(priceTable));
});

test("anything else is no table", () => {
  for (const data of [null, 3, "x", [], {}, [1], { a: 1 }, { providers: 3, asOf: DAY }, { models: [] }])
    assert.equal(read(data)?.table.providers.length ?? 0, 0, JSON.stringify(data));
});

test("imported prices count from their day on, the built-in ones before; what they do not say stays", () => {
  const table =
    read({ "claude-sonnet-5-5": { litellm_provider: "anthropic", input_cost_per_token: 1e-6 } })?.table ??
    null;
  const builtIn = "2 (@earendil-works/pi-ai 1.6.0)";
  assert.equal(shown(null, "anthropic", "claude-sonnet-5-5"), builtIn);
  assert.equal(shown(table, "anthropic", "claude-sonnet-5-5"), "1 (prices.json)");
  assert.equal(shown(table, "anthropic", "claude-sonnet-5-5", "input", BEFORE), builtIn);
  assert.equal(shown(table, "anthropic", "claude-opus-5"), "5 (@pydantic/genai-prices 0.1.8)");
  // At another service the price of this one says nothing.
  assert.equal(shown(table, "bedrock", "anthropic.claude-sonnet-5-5"), "2.2 (@earendil-works/pi-ai 1.6.0)");
});

test("imported prices that are older than the built-in ones only fill gaps", () => {
  const own = {
    ...priceTable,
    asOf: "2026-01-01",
    providers: [
      {
        id: "anthropic",
        api: "x",
        models: [
          {
            id: "claude-sonnet-5-5",
            match: { equals: "claude-sonnet-5-5" },
            prices: [{ rates: { input: 1 } }],
          },
          { id: "claude-sonnet-6", match: { equals: "claude-sonnet-6" }, prices: [{ rates: { input: 3 } }] },
        ],
      },
    ],
  };
  const table = read(own)?.table ?? null;
  assert.equal(shown(table, "anthropic", "claude-sonnet-5-5"), "2 (@earendil-works/pi-ai 1.6.0)");
  assert.equal(shown(table, "anthropic", "claude-sonnet-6"), "3 (prices.json)");
});

test("a price by the time of the day is imported only where sums keep the times apart", () => {
  const models = [
    timed("deepseek-v9", [3_600, 14_400]),
    timed("deepseek-v8", [1, 2]),
    timed("gpt-9", [3_600, 14_400]),
  ];
  const found = read({ asOf: DAY, providers: [{ id: "deepseek", api: "x", models }] });
  assert.deepEqual(
    found?.table.providers[0]?.models.map(({ id }) => id),
    ["deepseek-v9"],
  );
  assert.equal(found.leftOut.length, 2);
});
