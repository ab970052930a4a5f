import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { PriceSource, PricedModel, Provider, TableRates } from "../../core/price/price-table.ts";

/** A package with a list of models, MIT. Its prices are picked out by hand (pick-pi-ai.ts), because it has 10 dependencies. */
export const PI_AI = "@earendil-works/pi-ai";

/** What was picked: a line about the package, and one for each model. */
export const PI_AI_FILE = fileURLToPath(
  new URL("src/adapters/price-table/pi-ai.ndjson", import.meta.resolve("#package/package.json")),
);

/** The package's services that sell by the token, and what each is in the price table. Plans with a monthly price are left out. */
const SERVICES: Readonly<Record<string, Pick<Provider, "id" | "api" | "makes">>> = {
  "amazon-bedrock": { id: "aws", api: "" },
  "ant-ling": { id: "ant-ling", api: String.raw`https://api\.ant-ling\.com` },
  anthropic: { id: "anthropic", api: "" },
  azure: { id: "azure", api: "" },
  baseten: { id: "baseten", api: "" },
  cerebras: { id: "cerebras", api: "" },
  "cloudflare-ai-gateway": {
    id: "cloudflare-ai-gateway",
    api: String.raw`https://gateway\.ai\.cloudflare\.com`,
  },
  "cloudflare-workers-ai": { id: "cloudflare", api: "" },
  deepseek: { id: "deepseek", api: "" },
  fireworks: { id: "fireworks", api: "" },
  google: { id: "google", api: "" },
  "google-vertex": { id: "google", api: "" },
  groq: { id: "groq", api: "" },
  huggingface: { id: "huggingface", api: String.raw`https://router\.huggingface\.co/v1` },
  meta: { id: "meta", api: String.raw`https://api\.meta\.ai`, makes: { starts_with: "muse-" } },
  minimax: { id: "minimax", api: "" },
  mistral: { id: "mistral", api: "" },
  moonshotai: { id: "moonshotai", api: "" },
  nvidia: { id: "nvidia", api: String.raw`https://integrate\.api\.nvidia\.com` },
  openai: { id: "openai", api: "" },
  opencode: { id: "opencode", api: String.raw`https://opencode\.ai/(?:zen|inference)/(?!go/)` },
  openrouter: { id: "openrouter", api: "" },
  together: { id: "together", api: "" },
  "vercel-ai-gateway": { id: "vercel-ai-gateway", api: String.raw`https://ai-gateway\.vercel\.sh` },
  xai: { id: "x-ai", api: "" },
  xiaomi: { id: "xiaomi", api: String.raw`https://api\.xiaomimimo\.com`, makes: { starts_with: "mimo-" } },
  zai: { id: "zai", api: "" },
};

/** What the package says of a price. 0 is what it writes where it knows none, unless the model's name says that it is free. */
interface Cost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  tiers?: readonly (Omit<Cost, "tiers"> & { inputTokensAbove: number })[];
}

/** A line of the file. */
interface Line {
  provider: string;
  id: string;
  cost: Cost;
  contextWindow?: number;
}

const CLASSES = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** Reads the prices that were picked. */
export function readPiAi(): { source: PriceSource; providers: readonly Provider[] } {
  const [first = "", ...lines] = readFileSync(PI_AI_FILE, "utf8").trimEnd().split("\n");
  const { name, version, date } = JSON.parse(first) as Record<"name" | "version" | "date", string>;
  const providers = new Map<string, Provider & { models: PricedModel[] }>();
  for (const line of lines) {
    const { provider, id, cost, contextWindow } = JSON.parse(line) as Line;
    const service = SERVICES[provider];
    const rates = readCost(id, cost);
    if (service === undefined || rates === null) continue;
    // Google and Vertex are one service in the table, with one price each for most models.
    const key = service.api === "" ? provider : service.id;
    let found = providers.get(key);
    if (found === undefined) providers.set(key, (found = { ...service, models: [] }));
    const window = contextWindow === undefined ? {} : { contextWindow };
    found.models.push({ id, match: { equals: id }, ...window, prices: [{ rates }] });
  }
  return { source: { name: `${name} ${version}`, asOf: date }, providers: [...providers.values()] };
}

/** Returns null for a model without a price. */
function readCost(id: string, cost: Cost): TableRates | null {
  if (id.endsWith(":free")) return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const rates: TableRates = {};
  for (const name of CLASSES) {
    if (cost[name] === 0) continue;
    const tiers = (cost.tiers ?? []).map((tier) => ({ above: tier.inputTokensAbove, price: tier[name] }));
    rates[name] = tiers.length === 0 ? cost[name] : { base: cost[name], tiers };
  }
  return rates.input === undefined ? null : rates;
}
