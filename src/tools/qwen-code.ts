import { join } from "node:path";
import { isObject } from "../core/json.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { directoryOf, filesIn, managedDirectory } from "./recipe/directories.ts";
import { elsewhere, findSetting, findText, jsonSource, leadsHere, otherModel } from "./recipe/layers.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Its settings hold the name of a variable for each key, never the key. */
const KEY_VARIABLE = "TOLLKEEPER_QWEN_CODE";

const KEY_PURPOSE = "the variable that holds the credential";

/** The types of service that it can use, which are also the names of their lists of models. */
type AuthType = "anthropic" | "openai";

/** With `openai` it uses Chat Completions, whatever the model, and asks for usage. */
function authTypeFor(model: string | null): AuthType {
  return model === null || inferModelApi(model) === "messages" ? "anthropic" : "openai";
}

function baseUrlFor(type: AuthType, { baseUrl }: LocalEndpoint): string {
  return type === "anthropic" ? baseUrl : `${baseUrl}/v1`;
}

const configDirectory = directoryOf("QWEN_HOME", ".qwen");

/** Adds an entry to the list of models, because the shell's variables override those in its settings. */
function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { credential, model } = endpoint;
  const type = authTypeFor(model);
  const entry = ["modelProviders", type, { where: { name: "tollkeeper" } }];
  const settings: Setting[] = [
    { keyPath: ["security", "auth", "selectedType"], value: type, purpose: PURPOSE.provider },
    { keyPath: ["env", KEY_VARIABLE], value: credential, purpose: credentialPurpose(endpoint) },
  ];
  if (model === null) return settings;
  return [
    ...settings,
    { keyPath: [...entry, "id"], value: model, purpose: PURPOSE.model },
    { keyPath: [...entry, "baseUrl"], value: baseUrlFor(type, endpoint), purpose: PURPOSE.baseUrl },
    {
      keyPath: [...entry, "envKey"],
      value: KEY_VARIABLE,
      purpose: KEY_PURPOSE,
    },
    { keyPath: ["model", "name"], value: model, purpose: PURPOSE.model },
  ];
}

/** https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings, "Settings files". */
function sources(host: ToolHost): SettingsSource[] {
  const managed = managedDirectory(host, "qwen-code", "QwenCode");
  return [
    jsonSource(
      "managed",
      host.env["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] ?? join(managed, "system-defaults.json"),
    ),
    jsonSource("user", join(configDirectory(host), "settings.json")),
    jsonSource("project", join(host.directory, ".qwen", "settings.json")),
    jsonSource("managed", host.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] ?? join(managed, "settings.json")),
  ];
}

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const keyPath = ["security", "auth", "selectedType"];
  const chosen = findText(layers, ...keyPath);
  const type = (["anthropic", "openai"] as const).find((one) => one === (chosen?.value ?? "anthropic"));
  const isOurs = type === "anthropic" || (type === "openai" && hasOwnEntry(layers, type, endpoint));
  if (chosen !== null && !isOurs) {
    const remedies = [{ keyPath, value: authTypeFor(endpoint.model), purpose: PURPOSE.provider }];
    return [elsewhere(chosen, `Qwen Code uses a service of type ${chosen.value}`, { remedies })];
  }
  const model = findText(layers, "model", "name");
  return model === null || type === undefined ? [] : findOtherEntry(layers, type, model.value, endpoint);
}

function hasOwnEntry(layers: readonly SettingsLayer[], type: AuthType, endpoint: LocalEndpoint): boolean {
  const list = findSetting(layers, "modelProviders", type)?.value;
  return (
    Array.isArray(list) && list.some((entry) => isObject(entry) && leadsHere(entry["baseUrl"], endpoint))
  );
}

/** Of several entries for a model, Qwen Code takes the first. A list replaces those of weaker files. */
function findOtherEntry(
  layers: readonly SettingsLayer[],
  type: AuthType,
  model: string,
  endpoint: LocalEndpoint,
): Conflict[] {
  const list = findSetting(layers, "modelProviders", type);
  if (!Array.isArray(list?.value)) return [];
  const entries = list.value as unknown[];
  const index = entries.findIndex((entry) => isObject(entry) && entry["id"] === model);
  const entry = entries[index];
  if (!isObject(entry)) {
    const entryFor = (name: string) => settingsFor({ ...endpoint, model: name });
    return [otherModel(list, `it leaves out tollkeeper's entry for ${model}`, endpoint, entryFor)];
  }
  if (leadsHere(entry["baseUrl"], endpoint)) return [];
  const at = ["modelProviders", type, { where: { id: model } }];
  const remedies: Setting[] = [
    { keyPath: [...at, "baseUrl"], value: baseUrlFor(type, endpoint), purpose: PURPOSE.baseUrl },
    { keyPath: [...at, "envKey"], value: KEY_VARIABLE, purpose: KEY_PURPOSE },
  ];
  const found = { source: list.source, path: [...list.path, index] };
  return [elsewhere(found, `it comes before tollkeeper's entry for ${model}`, { remedies })];
}

export const qwenCode: ConnectableTool = {
  name: "qwen-code",
  title: "Qwen Code",
  source: "https://qwenlm.github.io/qwen-code-docs/en/users/configuration/model-providers",
  date: "2026-11-22",
  tried: "0.24.4",
  programs: ["qwen"],
  homePaths: [".qwen"],
  recorded: { source: "npm package @qwen-code/qwen-code 0.24.4", date: "2026-11-21" },
  requestSignatures: [
    // With the Messages API it sends Claude Code's User-Agent.
    { when: { "user-agent": /^claude-cli\// }, without: ["x-claude-code-session-id"] },
    { when: { "user-agent": /^QwenCode\// } },
  ],
  processSignatures: [{ names: ["qwen"] }, { path: /\/@qwen-code\/qwen-code\// }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => filesIn(configDirectory(host), "settings.json", ".env"),
  conflicts: { sources, modelApis: MODEL_APIS, find: findConflicts },
  scopes: ["user", "project"],
  modelApis: MODEL_APIS,
  mcpServers: {
    // https://qwenlm.github.io/qwen-code-docs/1.x/en/users/mcp, scope "user".
    file: (host) => ({ path: join(configDirectory(host), "settings.json"), format: "jsonc" }),
    keyPath: ["mcpServers"],
    form: "command",
  },
  plan(host, endpoint, scope) {
    const directory = scope === "user" ? configDirectory(host) : join(host.directory, ".qwen");
    const path = join(directory, "settings.json");
    return { files: [{ path, format: "jsonc", settings: settingsFor(endpoint) }], remarks: [] };
  },
  environment(_host, endpoint) {
    const { credential, model } = endpoint;
    const type = authTypeFor(model);
    const prefix = type.toUpperCase();
    const flags = ["--auth-type", type];
    return {
      variables: { [`${prefix}_BASE_URL`]: baseUrlFor(type, endpoint), [`${prefix}_API_KEY`]: credential },
      flags: model === null ? flags : [...flags, "--model", model],
    };
  },
};
