import { join } from "node:path";
import { filesIn } from "./recipe/directories.ts";
import { credentialPurpose, inferModelApi, PROVIDERS, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

/** Selects the entry in its list of models. Without an id of its own the entry would be known by its position. */
const ENTRY_ID = "custom:tollkeeper";

/** Every current model of both makers can return this many. */
const MAX_TOKENS = 16_384;

function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  if (model === null) return [];
  const entry = ["customModels", { where: { displayName: "tollkeeper" } }];
  const api = inferModelApi(model);
  const url = api === "messages" ? baseUrl : `${baseUrl}/v1`;
  return [
    { keyPath: [...entry, "id"], value: ENTRY_ID, purpose: "the name by which it is chosen" },
    { keyPath: [...entry, "model"], value: model, purpose: PURPOSE.model },
    { keyPath: [...entry, "baseUrl"], value: url, purpose: PURPOSE.baseUrl },
    { keyPath: [...entry, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
    { keyPath: [...entry, "provider"], value: PROVIDERS[api], purpose: PURPOSE.provider },
    { keyPath: [...entry, "maxOutputTokens"], value: MAX_TOKENS, purpose: "how long an answer may get" },
    { keyPath: ["sessionDefaultSettings", "model"], value: ENTRY_ID, purpose: "sessions begin with it" },
  ];
}

/** Factory's Droid. A custom model needs no login at Factory. */
export const droid: ConnectableTool = {
  name: "droid",
  title: "Factory Droid",
  source: "https://docs.factory.ai/cli/byok/overview",
  date: "2026-11-22",
  tried: "0.225.2",
  programs: ["droid"],
  homePaths: [".factory"],
  recorded: { source: "npm package @factory/cli-linux-x64 0.225.2", date: "2026-11-21" },
  requestSignatures: [{ when: { "user-agent": /^factory-cli\// } }],
  processSignatures: [{ names: ["droid"] }],
  configFiles: ({ home }) => filesIn(join(home, ".factory"), "settings.json", "config.json"),
  scopes: ["user", "project"],
  modelApi: "messages",
  plan(host, endpoint, scope) {
    const path =
      scope === "user"
        ? join(host.home, ".factory", "settings.json")
        : join(host.directory, ".factory", "settings.local.json");
    return { files: [{ path, format: "jsonc", settings: settingsFor(endpoint) }], remarks: [] };
  },
  environment: () => null,
};
