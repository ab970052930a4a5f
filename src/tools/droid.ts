import { join } from "node:path";
import { isObject } from "../core/json.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { filesIn } from "./recipe/directories.ts";
import { elsewhere, findSetting, findText, jsonSource, otherModel } from "./recipe/layers.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Selects the entry in its list of models. Without an id of its own the entry would be known by its position. */
const ENTRY_ID = "custom:tollkeeper";

const DEFAULT_MODEL = {
  keyPath: ["sessionDefaultSettings", "model"],
  value: ENTRY_ID,
  purpose: "the default model of sessions",
};

/** Its names for the APIs. */
const PROVIDERS = { messages: "anthropic", responses: "openai", chat: "generic-chat-completion-api" };

/** Every current model of both makers can return this many. */
const MAX_TOKENS = 16_384;

function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  if (model === null) return [];
  const entry = ["customModels", { where: { displayName: "tollkeeper" } }];
  const api = inferModelApi(model);
  const url = api === "messages" ? baseUrl : `${baseUrl}/v1`;
  return [
    { keyPath: [...entry, "id"], value: ENTRY_ID, purpose: "the name of the entry" },
    { keyPath: [...entry, "model"], value: model, purpose: PURPOSE.model },
    { keyPath: [...entry, "baseUrl"], value: url, purpose: PURPOSE.baseUrl },
    { keyPath: [...entry, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
    { keyPath: [...entry, "provider"], value: PROVIDERS[api], purpose: PURPOSE.provider },
    { keyPath: [...entry, "maxOutputTokens"], value: MAX_TOKENS, purpose: "the longest response, in tokens" },
    DEFAULT_MODEL,
  ];
}

function sources({ home, directory }: ToolHost): SettingsSource[] {
  return [...sourcesIn("user", home), ...sourcesIn("project", directory)];
}

function sourcesIn(kind: "user" | "project", parent: string): SettingsSource[] {
  const files = filesIn(join(parent, ".factory"), "settings.json", "settings.local.json");
  return files.map((path) => jsonSource(kind, path));
}

/** Choosing a model in Droid changes this setting. */
function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const chosen = findText(layers, ...DEFAULT_MODEL.keyPath);
  const hidden = findHiddenEntry(layers, endpoint);
  if (chosen === null || chosen.value === ENTRY_ID) return hidden;
  const remedies = [DEFAULT_MODEL];
  return [...hidden, elsewhere(chosen, `sessions start with ${chosen.value}`, { remedies })];
}

/** The local settings' list of models replaces that beside it; the project's is added to the user's. */
function findHiddenEntry(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const lists = ["user", "project"].flatMap((kind) => {
    return (
      findSetting(
        layers.filter(({ source }) => source.kind === kind),
        "customModels",
      ) ?? []
    );
  });
  const entries = lists.flatMap(({ value }) => (Array.isArray(value) ? (value as unknown[]) : []));
  const [list] = lists;
  if (list === undefined || entries.some((entry) => isObject(entry) && entry["id"] === ENTRY_ID)) return [];
  const remedies = (model: string) => settingsFor({ ...endpoint, model });
  return [otherModel(list, "it leaves out the model that points at tollkeeper", endpoint, remedies)];
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
  conflicts: { sources, modelApis: MODEL_APIS, find: findConflicts },
  scopes: ["user", "project"],
  modelApis: MODEL_APIS,
  plan(host, endpoint, scope) {
    const path =
      scope === "user"
        ? join(host.home, ".factory", "settings.json")
        : join(host.directory, ".factory", "settings.local.json");
    return { files: [{ path, format: "jsonc", settings: settingsFor(endpoint) }], remarks: [] };
  },
  environment: () => null,
};
