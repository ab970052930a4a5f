import { join } from "node:path";
import type { Conflict, SettingsLayer } from "./conflict.ts";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { elsewhere, findSetting, findText, jsonSource, leadsHere } from "./recipe/layers.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Its providers for the APIs; `openai-compatible` uses Chat Completions, and asks for usage. */
const PROVIDERS = {
  messages: "anthropic",
  responses: "openai-native",
  chat: "openai-compatible",
} as const;

const dataDirectory = directoryOf("CLINE_DATA_DIR", ".cline", "data");

const settingsFile = (host: ToolHost) => join(dataDirectory(host), "settings", "providers.json");

/** Choosing a provider in Cline changes this setting. */
function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const chosen = findText(layers, "lastUsedProvider");
  if (chosen === null) return [];
  const url = findSetting(layers, "providers", chosen.value, "settings", "baseUrl");
  if (leadsHere(url?.value, endpoint)) return [];
  return [elsewhere(chosen, `Cline uses the provider ${chosen.value}`)];
}

/** The program. Cline's extension for editors keeps its settings elsewhere. */
export const cline: ConnectableTool = {
  name: "cline",
  title: "Cline",
  source: "https://www.npmjs.com/package/cline",
  date: "2026-11-22",
  tried: "3.0.65",
  programs: ["cline"],
  homePaths: [".cline"],
  recorded: { source: "npm package cline 3.0.65", date: "2026-11-21" },
  requestSignatures: [{ when: { "user-agent": /^ai-sdk\/.* runtime\/bun\// }, isWeak: true }],
  processSignatures: [{ names: ["cline"] }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => filesIn(dataDirectory(host), "settings/providers.json", "secrets.json"),
  conflicts: {
    sources: (host) => [jsonSource("user", settingsFile(host))],
    find: findConflicts,
  },
  scopes: ["user"],
  modelApis: MODEL_APIS,
  plan(host, endpoint) {
    const { baseUrl, credential, model } = endpoint;
    const name = PROVIDERS[inferModelApi(model ?? "gpt-5")];
    const entry = ["providers", name];
    const fields = [...entry, "settings"];
    // Without these Cline discards the whole file. It updates the time whenever it runs.
    const required = { purpose: PURPOSE.required, acceptsAnyValue: true } as const;
    const settings: Setting[] = [
      { keyPath: ["version"], value: 1, ...required },
      { keyPath: ["lastUsedProvider"], value: name, purpose: PURPOSE.provider },
      { keyPath: [...fields, "provider"], value: name, purpose: PURPOSE.provider },
      { keyPath: [...fields, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
      { keyPath: [...fields, "baseUrl"], value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
      { keyPath: [...entry, "updatedAt"], value: "2026-11-22T00:00:00.000Z", ...required },
      { keyPath: [...entry, "tokenSource"], value: "manual", ...required },
    ];
    if (model !== null)
      settings.push({ keyPath: [...fields, "model"], value: model, purpose: PURPOSE.model });
    return {
      files: [{ path: settingsFile(host), format: "jsonc", settings }],
      remarks: [
        "Cline's extension for VS Code has its own settings: choose the provider and the base URL there.",
      ],
    };
  },
  environment: () => null,
};
