import { join } from "node:path";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { filesIn } from "./recipe/directories.ts";
import {
  elsewhere,
  findOtherBaseUrl,
  findOtherCredential,
  findSetting,
  findText,
  leadsHere,
  repositoryOf,
  stringsOf,
} from "./recipe/layers.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE, qualifyModel } from "./recipe/settings.ts";
import type { FileSettings, Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

const FILE = ".aider.conf.yml";

/** Its settings for models: a list. Those of a stronger place replace those of the same name. */
const MODEL_FILE = ".aider.model.settings.yml";

/** Its library takes the base URL from this variable (https://docs.litellm.ai/docs/providers/anthropic). */
const URL_VARIABLE = "ANTHROPIC_API_BASE";

/** Its settings for models. By default the others follow from the main one. */
const MODELS = ["model", "weak-model", "editor-model"];

/** What its library calls the providers. With `openai` it uses Chat Completions, whatever the model. */
const PROVIDERS = { messages: "anthropic", responses: "openai", chat: "openai" };

const modelName = (model: string) => qualifyModel(model, PROVIDERS);

/** aider knows Claude's models by short names as well: `sonnet`. */
function isClaude(model: string): boolean {
  return /^(?:anthropic\/|[^/]*(?:claude|sonnet|opus|haiku))/.test(model);
}

function usesChat(model: string | null): model is string {
  return model !== null && inferModelApi(model) !== "messages";
}

function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { model } = endpoint;
  const settings = usesChat(model) ? chatSettings(endpoint) : messagesSettings(endpoint);
  return model === null ? settings : [...settings, modelSetting("model", model)];
}

/** aider has no setting for this base URL: `set-env` sets the variable. */
function messagesSettings(endpoint: LocalEndpoint): Setting[] {
  const assignment = `${URL_VARIABLE}=${endpoint.baseUrl}`;
  return [
    { keyPath: ["set-env", { item: assignment }], value: assignment, purpose: PURPOSE.baseUrl },
    { keyPath: ["anthropic-api-key"], value: endpoint.credential, purpose: credentialPurpose(endpoint) },
  ];
}

function chatSettings(endpoint: LocalEndpoint): Setting[] {
  return [
    { keyPath: ["openai-api-base"], value: `${endpoint.baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { keyPath: ["openai-api-key"], value: endpoint.credential, purpose: credentialPurpose(endpoint) },
  ];
}

/**
 * Its library asks for usage only without a base URL or with OpenAI's own (https://github.com/BerriAI/litellm,
 * litellm/llms/openai/openai.py, get_stream_options), and leaves the option out of requests that are not streams. The
 * entry of this name applies to all models (https://aider.chat/docs/config/adv-model-settings.html).
 */
const ASK_FOR_USAGE: Setting = {
  keyPath: [{ where: { name: "aider/extra_params" } }, "extra_params", "stream_options", "include_usage"],
  value: true,
  purpose: PURPOSE.usage,
};

function modelSetting(name: string, model: string): Setting {
  return { keyPath: [name], value: modelName(model), purpose: PURPOSE.model };
}

/** https://aider.chat/docs/config/aider_conf.html; a setting's variable overrides it in all of them. */
function sources(host: ToolHost): SettingsSource[] {
  const { OPENAI_BASE_URL } = host.env;
  const projects = [repositoryOf(host) ?? host.directory, host.directory].filter((one) => one !== host.home);
  const names = [...MODELS, "anthropic-api-key", "set-env", "openai-api-base", "openai-api-key"];
  return [
    { kind: "user", path: join(host.home, FILE), format: "yaml" },
    ...[...new Set(projects)].map(
      (directory) => ({ kind: "project", path: join(directory, FILE), format: "yaml" }) as const,
    ),
    ...names.flatMap((name) => variableSource(name, host)),
    { kind: "environment", settings: { OPENAI_BASE_URL } },
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
  const isChat = leadsHere(findText(layers, "openai-api-base")?.value, endpoint);
  return [
    ...findOtherModels(
      layers,
      endpoint,
      (model) => isClaude(model) || (isChat && model.startsWith("openai/")),
    ),
    ...findReplacedUrl(layers, endpoint),
    ...findSentKey("anthropic-api-key", layers, endpoint),
    ...(isChat ? findChatConflicts(layers, endpoint) : []),
  ];
}

function findOtherModels(
  layers: readonly SettingsLayer[],
  { model }: LocalEndpoint,
  isOwn: (model: string) => boolean,
): Conflict[] {
  return MODELS.flatMap((name) => {
    const found = findText(layers, name);
    if (found === null || isOwn(found.value)) return [];
    const remedies = model === null ? [] : [modelSetting(name, model)];
    return [elsewhere(found, `it chooses ${found.value}`, { remedies })];
  });
}

/** Its library prefers this variable to the one that `openai-api-base` sets. */
function findChatConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  return [
    ...findOtherBaseUrl(findText(layers, "OPENAI_BASE_URL"), endpoint),
    ...findSentKey("openai-api-key", layers, endpoint),
  ];
}

function findSentKey(name: string, layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  return findOtherCredential(findText(layers, name), endpoint, "it is sent instead of tollkeeper's");
}

/** A `set-env` replaces that of a weaker file as a whole. */
function findReplacedUrl(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const list = findSetting(layers, "set-env");
  if (list === null || usesOnlyChat(layers)) return [];
  const assignment = stringsOf(list).findLast((item) => item.startsWith(`${URL_VARIABLE}=`));
  if (leadsHere(assignment?.slice(URL_VARIABLE.length + 1), endpoint)) return [];
  return [elsewhere(list, `it sets ${URL_VARIABLE} to another base URL, or leaves it out`)];
}

function usesOnlyChat(layers: readonly SettingsLayer[]): boolean {
  const models = MODELS.flatMap((name) => findText(layers, name)?.value ?? []);
  return models.length > 0 && models.every((model) => model.startsWith("openai/"));
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
  usageRemedy:
    "set stream_options in ~/.aider.model.settings.yml (MODEL is your model's name) with: tollkeeper connect aider --model MODEL",
  configFiles: ({ home }) => filesIn(home, FILE, MODEL_FILE),
  conflicts: { sources, find: findConflicts },
  scopes: ["user"],
  modelApis: MODEL_APIS,
  plan({ home }, endpoint) {
    const settings: FileSettings = {
      path: join(home, FILE),
      format: "yaml",
      settings: settingsFor(endpoint),
    };
    if (!usesChat(endpoint.model)) return { files: [settings], remarks: [] };
    const models: FileSettings = { path: join(home, MODEL_FILE), format: "yaml", settings: [ASK_FOR_USAGE] };
    return { files: [settings, models], remarks: [] };
  },
  environment(_host, { baseUrl, credential, model }) {
    const variables = usesChat(model)
      ? { OPENAI_BASE_URL: `${baseUrl}/v1`, OPENAI_API_KEY: credential }
      : { [URL_VARIABLE]: baseUrl, ANTHROPIC_API_KEY: credential };
    const choice = model === null ? {} : { AIDER_MODEL: modelName(model) };
    return { variables: { ...variables, ...choice }, flags: [] };
  },
};
