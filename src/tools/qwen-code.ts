import { join } from "node:path";
import { isObject } from "../core/json.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { directoryOf, filesIn, managedDirectory } from "./recipe/directories.ts";
import { elsewhere, findSetting, findText, jsonSource, leadsHere, otherModel } from "./recipe/layers.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Its settings hold the name of a variable for each key, never the key. */
const KEY_VARIABLE = "TOLLKEEPER_QWEN_CODE";

const KEY_PURPOSE = "the variable that holds the credential";

/** With `openai` it uses chat completions, a route that tollkeeper does not forward by default. */
const AUTH_TYPE = "anthropic";

const AUTH_API = "messages";

const configDirectory = directoryOf("QWEN_HOME", ".qwen");

/** Adds an entry to the list of models, because the shell's variables override those in its settings. */
function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  const entry = ["modelProviders", AUTH_TYPE, { where: { name: "tollkeeper" } }];
  const settings: Setting[] = [
    { keyPath: ["security", "auth", "selectedType"], value: AUTH_TYPE, purpose: PURPOSE.provider },
    { keyPath: ["env", KEY_VARIABLE], value: credential, purpose: credentialPurpose(endpoint) },
  ];
  if (model === null) return settings;
  return [
    ...settings,
    { keyPath: [...entry, "id"], value: model, purpose: PURPOSE.model },
    { keyPath: [...entry, "baseUrl"], value: baseUrl, purpose: PURPOSE.baseUrl },
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
  const type = findText(layers, "security", "auth", "selectedType");
  if (type !== null && type.value !== AUTH_TYPE) {
    const keyPath = ["security", "auth", "selectedType"];
    const remedies = [{ keyPath, value: AUTH_TYPE, purpose: PURPOSE.provider }];
    return [elsewhere(type, `Qwen Code uses a service of type ${type.value}`, { remedies })];
  }
  const model = findText(layers, "model", "name");
  return model === null ? [] : findOtherEntry(layers, model.value, endpoint);
}

/** Of several entries for a model, Qwen Code takes the first. A list replaces those of weaker files. */
function findOtherEntry(
  layers: readonly SettingsLayer[],
  model: string,
  endpoint: LocalEndpoint,
): Conflict[] {
  const list = findSetting(layers, "modelProviders", AUTH_TYPE);
  if (!Array.isArray(list?.value)) return [];
  const entries = list.value as unknown[];
  const index = entries.findIndex((entry) => isObject(entry) && entry["id"] === model);
  const entry = entries[index];
  if (!isObject(entry)) {
    const entryFor = (name: string) => settingsFor({ ...endpoint, model: name });
    return [otherModel(list, `it leaves out tollkeeper's entry for ${model}`, endpoint, entryFor)];
  }
  if (leadsHere(entry["baseUrl"], endpoint)) return [];
  const at = ["modelProviders", AUTH_TYPE, { where: { id: model } }];
  const remedies: Setting[] = [
    { keyPath: [...at, "baseUrl"], value: endpoint.baseUrl, purpose: PURPOSE.baseUrl },
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
  configFiles: (host) => filesIn(configDirectory(host), "settings.json", ".env"),
  conflicts: { sources, modelApis: [AUTH_API], find: findConflicts },
  scopes: ["user", "project"],
  modelApi: AUTH_API,
  plan(host, endpoint, scope) {
    const directory = scope === "user" ? configDirectory(host) : join(host.directory, ".qwen");
    const path = join(directory, "settings.json");
    return { files: [{ path, format: "jsonc", settings: settingsFor(endpoint) }], remarks: [] };
  },
  environment(_host, { baseUrl, credential, model }) {
    const flags = ["--auth-type", AUTH_TYPE];
    return {
      variables: { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: credential },
      flags: model === null ? flags : [...flags, "--model", model],
    };
  },
};
