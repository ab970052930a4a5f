import { join } from "node:path";
import type { SharedApi } from "../core/http/api.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { elsewhere, findOtherBaseUrl, findSetting, findText } from "./recipe/layers.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Our provider, and our entry in its list of models. */
const ENTRY = "tollkeeper";

/** Its types of providers, by API. It asks for usage from all of them. */
const TYPES: Readonly<Record<SharedApi, string>> = {
  messages: "anthropic",
  responses: "openai_responses",
  chat: "openai",
};

/** Kimi Code offers these more before its vendor's service, as it names them itself for a model of `KIMI_MODEL_NAME`. */
const KIMI_CAPABILITIES = ["image_in", "thinking"];

/** Tokens; Kimi Code takes the second for granted where it is told nothing. */
const CONTEXT = { claude: 200_000, other: 262_144 };

const configDirectory = directoryOf("KIMI_CODE_HOME", ".kimi-code");

function isKimi(model: string): boolean {
  return /(?:^|\/)(?:kimi|k\d)/i.test(model);
}

function providerFor(endpoint: LocalEndpoint, model: string): { type: string; baseUrl: string } {
  const api = inferModelApi(model);
  return {
    type: isKimi(model) ? "kimi" : TYPES[api],
    baseUrl: api === "messages" ? endpoint.baseUrl : `${endpoint.baseUrl}/v1`,
  };
}

function contextOf(model: string): number {
  return inferModelApi(model) === "messages" ? CONTEXT.claude : CONTEXT.other;
}

function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { credential, model } = endpoint;
  if (model === null) return [];
  const { type, baseUrl } = providerFor(endpoint, model);
  const provider = ["providers", ENTRY];
  const entry = ["models", ENTRY];
  const capabilities: Setting = {
    keyPath: [...entry, "capabilities"],
    value: KIMI_CAPABILITIES,
    purpose: "keeps images and thinking, which Kimi Code leaves out for a model that it does not know",
  };
  return [
    { keyPath: ["default_model"], value: ENTRY, purpose: "selects the model that points at tollkeeper" },
    { keyPath: [...provider, "type"], value: type, purpose: "the API to use" },
    { keyPath: [...provider, "base_url"], value: baseUrl, purpose: PURPOSE.baseUrl },
    { keyPath: [...provider, "api_key"], value: credential, purpose: credentialPurpose(endpoint) },
    { keyPath: [...entry, "provider"], value: ENTRY, purpose: PURPOSE.provider },
    { keyPath: [...entry, "model"], value: model, purpose: PURPOSE.model },
    {
      keyPath: [...entry, "max_context_size"],
      value: contextOf(model),
      purpose: "the model's context in tokens, which the tool requires",
      acceptsAnyValue: true,
    },
    ...(isKimi(model) ? [capabilities] : []),
  ];
}

/** https://moonshotai.github.io/kimi-code/en/configuration/env-vars: the variables override the file. */
function sources(host: ToolHost): SettingsSource[] {
  return [
    { kind: "user", path: join(configDirectory(host), "config.toml"), format: "toml" },
    { kind: "environment", settings: { env: host.env } },
  ];
}

/** Choosing a model in Kimi Code changes `default_model`. */
function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const chosen = findText(layers, "default_model");
  const variable = findText(layers, "env", "KIMI_MODEL_NAME");
  const selected: Setting = { keyPath: ["default_model"], value: ENTRY, purpose: PURPOSE.model };
  const others =
    chosen === null || chosen.value === ENTRY
      ? []
      : [elsewhere(chosen, `Kimi Code starts with the model ${chosen.value}`, { remedies: [selected] })];
  const redirected = variable === null ? null : findSetting(layers, "env", "KIMI_MODEL_BASE_URL");
  return [
    ...others,
    ...findOtherBaseUrl(findSetting(layers, "providers", ENTRY, "base_url"), endpoint),
    ...(variable === null
      ? []
      : redirected === null
        ? [elsewhere(variable, "it selects a model of its vendor's service")]
        : findOtherBaseUrl(redirected, endpoint)),
  ];
}

/** Moonshot's Kimi Code. Its settings are those of the program and of its desktop app. */
export const kimiCode: ConnectableTool = {
  name: "kimi-code",
  title: "Kimi Code",
  source: "https://moonshotai.github.io/kimi-code/en/configuration/config-files",
  date: "2026-11-28",
  tried: "2.1.0",
  programs: ["kimi"],
  homePaths: [".kimi-code"],
  recorded: { source: "npm package @moonshot-ai/kimi-code 2.1.0", date: "2026-11-28" },
  requestSignatures: [{ when: { "user-agent": /^kimi-code-cli\// } }],
  processSignatures: [{ names: ["kimi"] }, { path: /\/@moonshot-ai\/kimi-code\// }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => filesIn(configDirectory(host), "config.toml"),
  conflicts: { sources, modelApis: MODEL_APIS, find: findConflicts },
  scopes: ["user"],
  modelApis: MODEL_APIS,
  plan(host, endpoint) {
    const path = join(configDirectory(host), "config.toml");
    return { files: [{ path, format: "toml", settings: settingsFor(endpoint) }], remarks: [] };
  },
  environment(_host, endpoint) {
    const { credential, model } = endpoint;
    if (model === null) return null;
    const { type, baseUrl } = providerFor(endpoint, model);
    return {
      variables: {
        KIMI_MODEL_NAME: model,
        KIMI_MODEL_PROVIDER_TYPE: type,
        KIMI_MODEL_BASE_URL: baseUrl,
        KIMI_MODEL_API_KEY: credential,
        KIMI_MODEL_MAX_CONTEXT_SIZE: String(contextOf(model)),
      },
      flags: [],
    };
  },
};
