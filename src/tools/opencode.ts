import { join } from "node:path";
import { configHome, dataHome, filesIn } from "./recipe/directories.ts";
import { opencodeConflicts, type OpencodeNames } from "./opencode/conflicts.ts";
import {
  credentialPurpose,
  isOwnProvider,
  PROVIDERS,
  PURPOSE,
  qualifyModel,
  UPDATE_SERVICE,
} from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, McpServers, Recipe, ToolHost } from "./tool.ts";

export const opencode: ConnectableTool = {
  name: "opencode",
  title: "opencode",
  source: "https://opencode.ai/docs/config",
  date: "2026-11-22",
  tried: "1.18.33",
  programs: ["opencode"],
  homePaths: [".config/opencode", ".local/share/opencode"],
  recorded: { source: "npm package opencode-ai 1.18.33", date: "2026-11-21" },
  requestSignatures: [{ when: { "user-agent": /^opencode\// } }],
  processSignatures: [{ names: ["opencode"] }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => [
    ...filesIn(configHome(host), "opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json"),
    ...filesIn(dataHome(host), "opencode/auth.json"),
  ],
  ...opencodeRecipe({ name: "opencode", files: ["opencode"], projectDirectories: [".opencode"] }),
  // https://opencode.ai/docs/mcp-servers
  mcpServers: opencodeMcpServers("opencode"),
};

/** Where opencode and its forks have their MCP servers. */
export function opencodeMcpServers(name: string): McpServers {
  return {
    file: (host) => ({ path: userSettings(host, name), format: "jsonc" }),
    keyPath: ["mcp"],
    form: "list",
  };
}

function userSettings(host: ToolHost, name: string): string {
  return settingsFile(host, join(configHome(host), name, `${name}.json`));
}

/** The recipe of opencode and its forks. It redirects the built-in providers, so that their model lists stay available. */
export function opencodeRecipe(names: OpencodeNames): Recipe {
  const { name } = names;
  return {
    scopes: ["user", "project"],
    modelApis: [],
    conflicts: opencodeConflicts(names),
    plan(host, endpoint, scope) {
      const { baseUrl, credential, model } = endpoint;
      const path =
        scope === "user"
          ? userSettings(host, name)
          : settingsFile(host, join(host.directory, `${name}.json`));
      const settings = providersFor(model).flatMap((provider): Setting[] => {
        const options = ["provider", provider, "options"];
        return [
          { keyPath: [...options, "baseURL"], value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
          { keyPath: [...options, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
          ...(provider === PROVIDERS.chat ? compatibleSettings() : []),
        ];
      });
      if (model !== null) settings.push(...modelSettings(model));
      return { files: [{ path, format: "jsonc", settings }], remarks: [] };
    },
    environment: (_host, endpoint) => ({
      variables: { [`${name.toUpperCase()}_CONFIG_CONTENT`]: JSON.stringify(inlineSettings(endpoint)) },
      flags: [],
    }),
  };
}

/** Returns the built-in providers, and for a model that only Chat Completions serves the provider we add. */
function providersFor(model: string | null): string[] {
  const { messages, responses, chat } = PROVIDERS;
  const isChat = model !== null && qualifyModel(model).startsWith(`${chat}/`);
  return isChat ? [messages, responses, chat] : [messages, responses];
}

/**
 * Part of the program. The package asks for usage only with the option. The versions of opencode and Kilo that were tried
 * set it themselves, unless the settings say otherwise.
 */
const COMPATIBLE = { npm: "@ai-sdk/openai-compatible", includeUsage: true };

function compatibleSettings(): Setting[] {
  const provider = ["provider", PROVIDERS.chat];
  const { npm, includeUsage } = COMPATIBLE;
  return [
    { keyPath: [...provider, "npm"], value: npm, purpose: "uses Chat Completions" },
    { keyPath: [...provider, "options", "includeUsage"], value: includeUsage, purpose: PURPOSE.usage },
  ];
}

/** Both spellings are read; where both exist, .jsonc wins. */
function settingsFile(host: ToolHost, path: string): string {
  return host.exists(`${path}c`) ? `${path}c` : path;
}

/** Without an entry of its own, a model that the program does not list makes every prompt fail. */
function modelSettings(model: string): Setting[] {
  const [provider = "", ...id] = qualifyModel(model).split("/");
  const purpose = "adds the model to those that the program lists";
  const keyPath = ["provider", provider, "models", id.join("/")];
  return [
    { keyPath: ["model"], value: qualifyModel(model), purpose: PURPOSE.model },
    ...(isOwnProvider(provider) ? [{ keyPath, value: {}, purpose, acceptsAnyValue: true } as const] : []),
  ];
}

function inlineSettings({ baseUrl, credential, model }: LocalEndpoint): object {
  const options = { baseURL: `${baseUrl}/v1`, apiKey: credential };
  const { npm, includeUsage } = COMPATIBLE;
  const settingsOf = (name: string) => {
    if (name !== PROVIDERS.chat || model === null) return { options };
    const id = qualifyModel(model).slice(name.length + 1);
    return { npm, options: { ...options, includeUsage }, models: { [id]: {} } };
  };
  const provider = Object.fromEntries(providersFor(model).map((name) => [name, settingsOf(name)]));
  return model === null ? { provider } : { provider, model: qualifyModel(model) };
}
