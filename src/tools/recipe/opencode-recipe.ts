import { join } from "node:path";
import type { Setting } from "../setting.ts";
import type { LocalEndpoint, Recipe, ToolHost } from "../tool.ts";
import { configHome } from "./directories.ts";
import { PROVIDERS, qualifyModel } from "./model-api.ts";
import { credentialPurpose, PURPOSE } from "./purposes.ts";

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
