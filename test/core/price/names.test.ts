import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PI_AI_FILE } from "../../../src/adapters/price-table/pi-ai.ts";
import { formatDecimal } from "../../../src/core/price/money.ts";
import { findModel, findProvider, type Provider } from "../../../src/core/price/price-table.ts";
import { priceBook, priceTable } from "../../helpers/ledger/prices.ts";

const find = (name: string, provider: Provider | null = null) => {
  const found = findModel(priceTable, provider, name);
  return found === null ? null : `${found.provider}/${found.model.id}`;
};
const at = (url: string) => {
  const provider = findProvider(priceTable, url);
  assert.ok(provider !== null, url);
  return provider;
};

test("a model has its maker's price at an unknown host, however a gateway writes its name", () => {
  const cases: [name: string, found: string | null][] = [
    ["openai/gpt-5", "openai/gpt-5"],
    ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4-5"],
    [
      "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "anthropic/claude-sonnet-4-5",
    ],
    [
      "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-1-20250805-v1:0",
      "anthropic/claude-opus-4-1",
    ],
    ["arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456", null],
    ["global.anthropic.claude-opus-5-5", "anthropic/claude-opus-5-5"],
    ["anthropic.claude-opus-4-1-20250805-v1:0", "anthropic/claude-opus-4-1"],
    ["models/gemini-2.5-pro", "google/gemini-2.5-pro"],
    ["google/gemini-4-argon", "google/gemini-4-argon"],
    ["publishers/google/models/gemini-2.5-flash", "google/gemini-2.5-flash"],
    ["claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4-5"],
    ["claude-opus-4-6@default", "anthropic/claude-opus-4-6"],
    ["claude-sonnet-5-5-latest", "anthropic/claude-sonnet-5-5"],
    ["claude-sonnet-5-5-20261101", "anthropic/claude-sonnet-5-5"],
    ["claude-fable-5.2", "anthropic/claude-fable-5-2"],
    ["claude-opus-4-6[1m]", "anthropic/claude-opus-4-6"],
    ["gpt-6.1-sol-2026-10-30", "openai/gpt-6.1-sol"],
    ["gpt-6-2-astra", "openai/gpt-6.2-astra"],
    ["xai/grok-4.7", "x-ai/grok-4.7"],
    ["z-ai/glm-5.3", "zai/GLM-5.3"],
    ["moonshotai/kimi-k2.5", "moonshotai/kimi-k2.5"],
    // A prefix of LiteLLM's names the service, which has prices of its own.
    ["bedrock/us.anthropic.claude-sonnet-5-5", "aws/us.anthropic.claude-sonnet-5-5"],
    ["bedrock/eu-west-1/anthropic.claude-opus-5", "aws/regional.anthropic.claude-opus-5"],
    ["vertex_ai/claude-sonnet-4-5@20250929", "google/claude-sonnet-4-5"],
    ["gemini/gemini-3.5-flash", "google/gemini-3.5-flash"],
    ["azure/gpt-6.1-sol", "azure/gpt-6.1-sol"],
    ["openrouter/qwen/qwen3.8-27b", "openrouter/qwen/qwen3.8-27b"],
    ["chatgpt-4o-latest", "openai/chatgpt-4o-latest"],
    ["openai/codex-mini-latest", "openai/codex-mini"],
    ["~anthropic/claude-haiku-latest", "openrouter/~anthropic/claude-haiku-latest"],
    // Nobody but Bedrock sells them.
    ["us.amazon.nova-pro-v1:0", "aws/amazon.nova-pro-v1:0"],
    // A variant has a price of its own, or none.
    ["google/gemma-4-31b-it:free", "openrouter/google/gemma-4-31b-it:free"],
    ["openai/gpt-5:batch", "openrouter/openai/gpt-5:batch"],
    ["anthropic/claude-opus-5:free", null],
    ["gpt-5:online", null],
    // So has a fine-tuned model.
    ["ft:gpt-4o-mini-2024-07-18:acme::x1", "openai/ft:gpt-4o-mini"],
    ["ft:gpt-5-2025-08-07:acme::x1", null],
    // The newest of a family is now this model and then that.
    ["claude-latest", null],
    ["somebody/unknown-7b", null],
    ["", null],
    ["/", null],
  ];
  for (const [name, found] of cases) assert.equal(find(name), found, name);
});

test("a name that goes on with another version is no model that is known, on any path", () => {
  for (const name of [
    "claude-opus-4-10",
    "claude-opus-4.10",
    "claude-sonnet-5-6",
    "claude-sonnet-5-5-1",
    "claude-fable-5-20",
    "gpt-5.10",
    "gpt-5-10",
    "grok-4.60",
  ])
    for (const spelling of [
      name,
      name.toUpperCase(),
      `anthropic/${name}`,
      `openai/${name}`,
      `openrouter/anthropic/${name}`,
      `us.anthropic.${name}`,
      `us.anthropic.${name}-v1:0`,
      `global.anthropic.${name}`,
      `bedrock/anthropic.${name}-v1:0`,
      `vertex_ai/${name}@20261120`,
      `models/${name}`,
      `${name}-latest`,
      `${name}@default`,
    ])
      for (const provider of [null, ...priceTable.providers])
        assert.equal(find(spelling, provider), null, `${spelling} at ${provider?.id}`);
});

test("at Bedrock each region has its price, and a region that is not listed that of one region", () => {
  const bedrock = at("https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1");
  assert.equal(find("global.anthropic.claude-sonnet-5-5", bedrock), "aws/global.anthropic.claude-sonnet-5-5");
  assert.equal(find("us.anthropic.claude-haiku-5-5", bedrock), "aws/us.anthropic.claude-haiku-5-5");
  assert.equal(find("apac.anthropic.claude-haiku-5-5-v1:0", bedrock), "aws/anthropic.claude-haiku-5-5");
  // What it costs in any region of the world is not known from what it costs in one.
  assert.equal(find("global.writer.palmyra-x5-v1:0", bedrock), "aws/writer.palmyra-x5-v1:0");
  assert.equal(
    find("openai.gpt-6.1-sol", at("https://bedrock-mantle.us-east-1.api.aws/v1")),
    "aws/openai.gpt-6.1-sol",
  );
});

test("every model of a source is found under its own name, and under that name at a gateway", () => {
  for (const provider of priceTable.providers)
    for (const { id, match } of provider.models) {
      if (!("equals" in match)) continue;
      assert.notEqual(find(match.equals, provider), null, `${provider.id}: ${id}`);
    }
});

/** The lists of models of the second source, as they are in the repository. */
const LISTS = readFileSync(PI_AI_FILE, "utf8")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map(
    (line) => JSON.parse(line) as { provider: string; id: string; cost: { input: number; output: number } },
  );

const HOSTS: Readonly<Record<string, string>> = {
  openrouter: "https://openrouter.ai/api/v1",
  "amazon-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1",
  "google-vertex": "https://us-east5-aiplatform.googleapis.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  "vercel-ai-gateway": "https://ai-gateway.vercel.sh/v1",
};

test("each model on the lists of OpenRouter, Bedrock, Vertex and others has its price there", () => {
  const config = Object.entries(HOSTS).map(([name, baseUrl]) => [name, { baseUrl }]);
  const book = priceBook(Object.fromEntries(config) as object);
  let count = 0;
  for (const { provider, id, cost } of LISTS) {
    if (HOSTS[provider] === undefined || cost.input <= 0) continue;
    const found = book.find(provider, id, Date.parse("2026-11-28T12:00:00Z"));
    assert.ok(found !== null && found !== "free", `${provider}: ${id}`);
    const [input, output] = [found.classes.input, found.classes.output];
    assert.equal(input && Number(formatDecimal(input.base)), cost.input, `${provider}: ${id}`);
    if (cost.output > 0) assert.equal(output && Number(formatDecimal(output.base)), cost.output, id);
    count += 1;
  }
  assert.ok(count > 900, `${count}`);
});

test("each model on Bedrock's list has a price at a gateway, too, and each of a service behind LiteLLM's prefix", () => {
  for (const { provider, id } of LISTS) if (provider === "amazon-bedrock") assert.ok(find(id) !== null, id);
  const prefixes = {
    bedrock: "aws",
    openrouter: "openrouter",
    vertex_ai: "google",
    groq: "groq",
    xai: "x-ai",
  };
  for (const [prefix, service] of Object.entries(prefixes)) {
    const provider = priceTable.providers.find((one) => one.id === service);
    for (const { match } of provider?.models ?? []) {
      if (!("equals" in match) || match.equals.startsWith("~")) continue;
      assert.equal(find(`${prefix}/${match.equals}`)?.split("/")[0], service, `${prefix}/${match.equals}`);
    }
  }
});
