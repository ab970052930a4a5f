import { join } from "node:path";
import { configHome, dataHome, filesIn } from "./recipe/directories.ts";
import { credentialPurpose, inferModelApi, PROVIDERS, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, Recipe, ToolHost } from "./tool.ts";

export const opencode: ConnectableTool = {
  name: "opencode",
  title: "opencode",
  source: "https://opencode.ai/docs/config",
  date: "2026-11-22",
  tried: "1.18.33",
  programs: ["opencode"],
  homePaths: [".local/share/opencode"],
  recorded: { source: "npm package opencode-ai 1.18.33", date: "2026-11-21" },
  requestSignatures: [{ when: { "user-agent": /^opencode\// } }],
  processSignatures: [{ names: ["opencode"] }],
  configFiles: (host) => [
    ...filesIn(configHome(host), "opencode/opencode.json", "opencode/opencode.jsonc", "opencode/config.json"),
    ...filesIn(dataHome(host), "opencode/auth.json"),
  ],
  ...opencodeRecipe("opencode", "OPENCODE_CONFIG_CONTENT"),
};

/**
 * The recipe of opencode and its forks. It redirects the built-in providers, so that their model lists stay available.
 * `name` is that of their directory and of their file; `variable` holds settings without a file.
 */
export function opencodeRecipe(name: string, variable: string): Recipe {
  return {
    scopes: ["user", "project"],
    modelApi: null,
    plan(host, endpoint, scope) {
      const { baseUrl, credential, model } = endpoint;
      const parent = scope === "user" ? join(configHome(host), name) : host.directory;
      const path = settingsFile(host, join(parent, `${name}.json`));
      const settings = Object.values(PROVIDERS).flatMap((provider): Setting[] => {
        const options = ["provider", provider, "options"];
        return [
          { keyPath: [...options, "baseURL"], value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
          { keyPath: [...options, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
        ];
      });
      if (model !== null)
        settings.push({ keyPath: ["model"], value: qualifyModel(model), purpose: PURPOSE.model });
      return { files: [{ path, format: "jsonc", settings }], remarks: [] };
    },
    environment: (_host, endpoint) => ({
      variables: { [variable]: JSON.stringify(inlineSettings(endpoint)) },
      flags: [],
    }),
  };
}

/** Both spellings are read; where both exist, .jsonc wins. */
function settingsFile(host: ToolHost, path: string): string {
  return host.exists(`${path}c`) ? `${path}c` : path;
}

function inlineSettings({ baseUrl, credential, model }: LocalEndpoint): object {
  const options = { baseURL: `${baseUrl}/v1`, apiKey: credential };
  const provider = Object.fromEntries(Object.values(PROVIDERS).map((name) => [name, { options }]));
  return model === null ? { provider } : { provider, model: qualifyModel(model) };
}

/** Returns `PROVIDER/MODEL`; a model that has a provider already as it is. */
function qualifyModel(model: string): string {
  return model.includes("/") ? model : `${PROVIDERS[inferModelApi(model)]}/${model}`;
}
