import type { Library } from "./libraries.ts";
import type { Seeds } from "./seeds.ts";
import type { Vendors } from "./vendors.ts";

/** How a program is pointed at a service without tollkeeper, by its own settings. */
export interface Direct {
  seeds?: Seeds;
  env?: Readonly<Record<string, string>>;
  /** Go before its other arguments. */
  args?: readonly string[];
}

/** Takes the service and one of the program's models. */
type DirectSettings = (vendors: Vendors, model: string) => Direct;

const isClaude = (model: string) => model.startsWith("claude");

const KEY = "sk-ant-api03-not-a-key";

/** Settings of opencode and Kilo. */
const providerSettings: (path: string) => DirectSettings =
  (path) =>
  ({ origin }, model) => {
    const provider = isClaude(model) ? "anthropic" : "openai";
    const settings = {
      model: `${provider}/${model}`,
      provider: { [provider]: { options: { baseURL: `${origin}/v1`, apiKey: KEY } } },
    };
    return { seeds: { [path]: JSON.stringify(settings) } };
  };

/** By tool. Claude Code and Codex ask their vendor's own host; the others have a base URL. */
export const DIRECT_SETTINGS: Readonly<Record<string, DirectSettings>> = {
  "claude-code": ({ env }, model) => ({ env: { ...env, ANTHROPIC_API_KEY: KEY }, args: ["--model", model] }),
  codex: ({ env }, model) => ({ env: { ...env, CODEX_API_KEY: KEY }, args: ["-c", `model="${model}"`] }),
  opencode: providerSettings(".config/opencode/opencode.json"),
  kilo: providerSettings(".config/kilo/kilo.json"),
  "qwen-code": ({ origin }, model) => ({
    env: { ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: KEY },
    args: ["--auth-type", "anthropic", "--model", model],
  }),
  "kimi-code": ({ origin }, model) => {
    const [type, baseUrl] = isClaude(model) ? ["anthropic", origin] : ["openai_responses", `${origin}/v1`];
    const file = `default_model = "mine"

[providers.mine]
type = "${type}"
base_url = "${baseUrl}"
api_key = "${KEY}"

[models.mine]
provider = "mine"
model = "${model}"
max_context_size = ${isClaude(model) ? 200_000 : 262_144}
`;
    return { seeds: { ".kimi-code/config.toml": file } };
  },
  cline: ({ origin }, model) => {
    const provider = isClaude(model) ? "anthropic" : "openai-native";
    const settings = { provider, apiKey: KEY, baseUrl: `${origin}/v1`, model };
    const entry = { settings, updatedAt: "2026-11-01T10:00:00.000Z", tokenSource: "manual" };
    const file = { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: entry } };
    return { seeds: { ".cline/data/settings/providers.json": JSON.stringify(file) } };
  },
  continue: ({ origin }, model) => ({
    seeds: {
      ".continue/config.yaml": `name: Mine
version: 1.0.0
schema: v1
models:
  - name: Mine
    provider: ${isClaude(model) ? "anthropic" : "openai"}
    model: ${model}
    apiBase: ${origin}/v1
    apiKey: ${KEY}
`,
    },
  }),
  copilot: ({ origin }, model) => ({
    env: {
      COPILOT_MODEL: model,
      ...(isClaude(model)
        ? { COPILOT_PROVIDER_TYPE: "anthropic", COPILOT_PROVIDER_BASE_URL: origin }
        : { COPILOT_PROVIDER_WIRE_API: "responses", COPILOT_PROVIDER_BASE_URL: `${origin}/v1` }),
    },
  }),
  pi: ({ origin }, model) => {
    const provider = isClaude(model) ? "anthropic" : "openai";
    const baseUrl = isClaude(model) ? origin : `${origin}/v1`;
    return {
      seeds: {
        ".pi/agent/models.json": JSON.stringify({ providers: { [provider]: { baseUrl, apiKey: KEY } } }),
        ".pi/agent/settings.json": JSON.stringify({ defaultProvider: provider, defaultModel: model }),
      },
    };
  },
  droid: ({ origin }, model) => {
    const provider = isClaude(model) ? "anthropic" : "openai";
    const baseUrl = isClaude(model) ? origin : `${origin}/v1`;
    const entry = { id: "custom:mine", model, displayName: "Mine", baseUrl, apiKey: KEY, provider };
    const settings = {
      customModels: [{ ...entry, maxOutputTokens: 16_384 }],
      sessionDefaultSettings: { model: "custom:mine" },
    };
    return { seeds: { ".factory/settings.json": JSON.stringify(settings) } };
  },
};

/** The variables that point a program with this library at the vendors. */
export function directVariables({ origin, env }: Vendors, library: Library): Record<string, string> {
  const keys = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY };
  // It is Claude Code in a package of its own, and asks the vendor's own host.
  if (library.package === "@anthropic-ai/claude-agent-sdk") return { ...env, ...keys };
  const anthropic = library.package === "ai" ? `${origin}/v1` : origin;
  return { ...keys, ANTHROPIC_BASE_URL: anthropic, OPENAI_BASE_URL: `${origin}/v1` };
}
