import { isObject, type JsonObject } from "../../json.ts";
import type { PricedModel, TableRates } from "../price-table.ts";
import type { Price, RateClass } from "../rate-class.ts";
import { asPrice, groupByProvider, type ReadPrices } from "./read-prices.ts";

/** What LiteLLM calls the services of the price table. */
const PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  azure: "azure",
  azure_ai: "azure",
  bedrock: "aws",
  bedrock_converse: "aws",
  cerebras: "cerebras",
  cohere: "cohere",
  cohere_chat: "cohere",
  deepseek: "deepseek",
  fireworks_ai: "fireworks",
  gemini: "google",
  groq: "groq",
  minimax: "minimax",
  mistral: "mistral",
  moonshot: "moonshotai",
  openai: "openai",
  openrouter: "openrouter",
  perplexity: "perplexity",
  "text-completion-openai": "openai",
  together_ai: "together",
  vercel_ai_gateway: "vercel-ai-gateway",
  xai: "x-ai",
  zai: "zai",
};

const CLASSES: readonly (readonly [listed: string, RateClass])[] = [
  ["input_cost_per_token", "input"],
  ["cache_read_input_token_cost", "cacheRead"],
  ["cache_creation_input_token_cost", "cacheWrite"],
  ["cache_creation_input_token_cost_above_1hr", "cacheWrite1h"],
  ["output_cost_per_token", "output"],
];

/** A price above a size of the input, in thousands of tokens. */
const ABOVE = /^(.+)_above_(\d{1,6})k_tokens$/;

/**
 * Reads LiteLLM's list of models (https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json). Returns null for
 * something else. Prices of batches and tiers are left out: tollkeeper has factors for them.
 */
export function readLiteLlm(data: unknown): ReadPrices | null {
  if (!isObject(data)) return null;
  const entries = Object.entries(data).filter(([name]) => name !== "sample_spec");
  if (!entries.some(([, entry]) => isObject(entry) && typeof entry["litellm_provider"] === "string"))
    return null;
  const leftOut: string[] = [];
  const models = entries.flatMap(([name, entry]) => {
    if (!isObject(entry)) return [];
    const provider = providerOf(entry["litellm_provider"]);
    const id = provider === null ? null : idOf(name);
    const model = id === null ? null : readModel(id, entry);
    if (provider !== null && model !== null) return [{ provider, model }];
    // What has no price per token is for images and the like.
    if (entry["input_cost_per_token"] !== undefined) leftOut.push(name);
    return [];
  });
  return { providers: groupByProvider(models), leftOut, asOf: null };
}

function providerOf(listed: unknown): string | null {
  if (typeof listed !== "string") return null;
  return listed.startsWith("vertex_ai") ? "google" : (PROVIDERS[listed] ?? null);
}

/** Returns a name without LiteLLM's prefix; null for one of a single region, whose price is not that of others. */
function idOf(name: string): string | null {
  const slash = name.indexOf("/");
  const prefix = name.slice(0, slash);
  if (slash === -1 || (PROVIDERS[prefix] === undefined && prefix !== "vertex_ai")) return name;
  const rest = name.slice(slash + 1);
  return (prefix === "bedrock" || prefix === "azure") && rest.includes("/") ? null : rest;
}

/** True where 0 stands for a price that the list does not have, such as that of a new model (BerriAI/litellm#10242). */
function isUnknown(
  id: string,
  { input_cost_per_token: input, output_cost_per_token: output }: JsonObject,
): boolean {
  // Embeddings have no output.
  return input === 0 && (output === 0 || output === undefined) && !id.endsWith(":free");
}

function readModel(id: string, entry: JsonObject): PricedModel | null {
  const rates: TableRates = {};
  for (const [listed, name] of CLASSES) {
    const price = readPrice(entry, listed);
    if (price === null) return null;
    if (price !== undefined) rates[name] = price;
  }
  if (rates.input === undefined || isUnknown(id, entry)) return null;
  const { output_cost_per_reasoning_token: reasoning, output_cost_per_token: output } = entry;
  if (reasoning !== undefined && reasoning !== output) rates.others = ["reasoning"];
  const searches = Object.values(
    isObject(entry["search_context_cost_per_query"]) ? entry["search_context_cost_per_query"] : {},
  );
  const [search] = new Set(searches);
  if (new Set(searches).size === 1 && typeof search === "number") rates.webSearch = times(search, 1_000);
  const window = entry["max_input_tokens"];
  return {
    id,
    match: { equals: id },
    ...(typeof window === "number" ? { contextWindow: window } : {}),
    prices: [{ rates }],
  };
}

/** Returns undefined for a class that is not listed, and null for something that is no price. */
function readPrice(entry: JsonObject, listed: string): Price | undefined | null {
  if (entry[listed] === undefined || entry[listed] === null) return undefined;
  const base = perMillion(entry[listed]);
  if (base === null) return null;
  const tiers: { above: number; price: number }[] = [];
  for (const [name, value] of Object.entries(entry)) {
    const [, of, thousands] = ABOVE.exec(name) ?? [];
    if (of !== listed) continue;
    const price = perMillion(value);
    if (price === null) return null;
    tiers.push({ above: Number(thousands) * 1_000, price });
  }
  return tiers.length === 0 ? base : { base, tiers: tiers.sort((a, b) => a.above - b.above) };
}

function perMillion(value: unknown): number | null {
  return typeof value === "number" ? asPrice(times(value, 1_000_000)) : null;
}

/** Multiplies without the digits that binary fractions add. */
function times(value: number, factor: number): number {
  return Number((value * factor).toPrecision(12));
}
