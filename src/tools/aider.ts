import { join } from "node:path";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import {
  elsewhere,
  findOtherCredential,
  findSetting,
  findText,
  leadsHere,
  repositoryOf,
  stringsOf,
} from "./recipe/layers.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

const FILE = ".aider.conf.yml";

/** Its library takes the base URL from this variable (https://docs.litellm.ai/docs/providers/anthropic). */
const URL_VARIABLE = "ANTHROPIC_API_BASE";

/** Its settings for models. By default the others follow from the main one. */
const MODELS = ["model", "weak-model", "editor-model"];

/** With `openai` it uses chat completions, a route that tollkeeper does not forward by default. */
function modelName(model: string): string {
  return model.includes("/") ? model : `anthropic/${model}`;
}

/** aider knows Claude's models by short names as well: `sonnet`. */
function isClaude(model: string): boolean {
  return /^(?:anthropic\/|[^/]*(?:claude|sonnet|opus|haiku))/.test(model);
}

/** aider has no setting for this base URL: `set-env` sets the variable. */
function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  const assignment = `${URL_VARIABLE}=${baseUrl}`;
  const settings: Setting[] = [
    { keyPath: ["set-env", { item: assignment }], value: assignment, purpose: PURPOSE.baseUrl },
    { keyPath: ["anthropic-api-key"], value: credential, purpose: credentialPurpose(endpoint) },
  ];
  return model === null ? settings : [...settings, modelSetting("model", model)];
}

function modelSetting(name: string, model: string): Setting {
  return { keyPath: [name], value: modelName(model), purpose: PURPOSE.model };
}

/** https://aider.chat/docs/config/aider_conf.html; a setting's variable overrides it in all of them. */
function sources(host: ToolHost): SettingsSource[] {
  const projects = [repositoryOf(host) ?? host.directory, host.directory].filter((one) => one !== host.home);
  return [
    { kind: "user", path: join(host.home, FILE), format: "yaml" },
    ...[...new Set(projects)].map(
      (directory) => ({ kind: "project", path: join(directory, FILE), format: "yaml" }) as const,
    ),
    ...[...MODELS, "anthropic-api-key", "set-env"].flatMap((name) => variableSource(name, host)),
  ];
}

/** The variable of a list holds one item, or several in brackets. */
function variableSource(name: string, { env }: ToolHost): SettingsSource[] {
  const variable = `AIDER_${name.toUpperCase().replaceAll("-", "_")}`;
  const text = env[variable];
  if (text === undefined) return [];
  const items = text.replaceAll(/^\[|\]$/g, "").split(/\s*,\s*/);
  return [{ kind: "environment", settings: { [name]: name === "set-env" ? items : text }, variable }];
}

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const { model } = endpoint;
  return [
    ...MODELS.flatMap((name) => {
      const found = findText(layers, name);
      if (found === null || isClaude(found.value)) return [];
      const remedies = model === null ? [] : [modelSetting(name, model)];
      return [elsewhere(found, `it chooses ${found.value}`, { remedies })];
    }),
    ...findReplacedUrl(layers, endpoint),
    ...findOtherCredential(
      findText(layers, "anthropic-api-key"),
      endpoint,
      "it is sent instead of tollkeeper's",
    ),
  ];
}

/** A `set-env` replaces that of a weaker file as a whole. */
function findReplacedUrl(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const list = findSetting(layers, "set-env");
  if (list === null) return [];
  const assignment = stringsOf(list).findLast((item) => item.startsWith(`${URL_VARIABLE}=`));
  if (leadsHere(assignment?.slice(URL_VARIABLE.length + 1), endpoint)) return [];
  return [elsewhere(list, `it sets ${URL_VARIABLE} to another base URL, or leaves it out`)];
}

export const aider: ConnectableTool = {
  name: "aider",
  title: "aider",
  source: "https://aider.chat/docs/config/aider_conf.html",
  date: "2026-11-22",
  tried: null,
  programs: ["aider"],
  homePaths: [".aider.conf.yml", ".aider"],
  processSignatures: [{ names: ["aider"], source: "https://aider.chat/docs/install.html" }],
  configFiles: ({ home }) => [join(home, FILE)],
  conflicts: { sources, find: findConflicts },
  scopes: ["user"],
  modelApi: "messages",
  plan(host, endpoint) {
    const path = join(host.home, FILE);
    return { files: [{ path, format: "yaml", settings: settingsFor(endpoint) }], remarks: [] };
  },
  environment(_host, { baseUrl, credential, model }) {
    const variables = { [URL_VARIABLE]: baseUrl, ANTHROPIC_API_KEY: credential };
    const choice = model === null ? {} : { AIDER_MODEL: modelName(model) };
    return { variables: { ...variables, ...choice }, flags: [] };
  },
};
