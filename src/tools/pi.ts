import { join } from "node:path";
import { PRESENT } from "../core/identity/signatures.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { findSetting, findText, jsonSource, otherModel, stringsOf } from "./recipe/layers.ts";
import {
  credentialPurpose,
  inferModelApi,
  isOwnProvider,
  MODEL_APIS,
  PROVIDERS,
  PURPOSE,
  qualifyModel,
  UPDATE_SERVICE,
} from "./recipe/settings.ts";
import type { FileSettings, Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

const configDirectory = directoryOf("PI_CODING_AGENT_DIR", ".pi", "agent");

/** Its documentation, settings.md: the project's settings override the user's. */
function sources(host: ToolHost): SettingsSource[] {
  return [
    jsonSource("user", join(configDirectory(host), "settings.json")),
    jsonSource("project", join(host.directory, ".pi", "settings.json")),
  ];
}

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const provider = findText(layers, "defaultProvider");
  const enabled = findSetting(layers, "enabledModels");
  const patterns = stringsOf(enabled);
  const conflicts: Conflict[] = [];
  // Without a default model Pi ignores the default provider.
  if (provider !== null && !isOwnProvider(provider.value) && findText(layers, "defaultModel") !== null)
    conflicts.push(otherModel(provider, `Pi uses the provider ${provider.value}`, endpoint, choiceOf));
  // If the default model is not among them, Pi starts with the first.
  if (enabled !== null && patterns.length > 0 && patterns.every(namesOtherProvider)) {
    const purpose = "the model is one of those that Pi offers";
    const remedies = (model: string) => {
      return [{ keyPath: ["enabledModels"], value: [...patterns, qualifyModel(model)], purpose }];
    };
    conflicts.push(otherModel(enabled, "it leaves only models of other providers", endpoint, remedies));
  }
  return conflicts;
}

function namesOtherProvider(pattern: string): boolean {
  const slash = pattern.indexOf("/");
  return slash > 0 && !isOwnProvider(pattern.slice(0, slash));
}

function choiceOf(model: string): Setting[] {
  return [
    { keyPath: ["defaultProvider"], value: PROVIDERS[inferModelApi(model)], purpose: PURPOSE.provider },
    { keyPath: ["defaultModel"], value: model, purpose: PURPOSE.model },
  ];
}

/** Pi asks for usage from a provider of this kind unless its `compat` says otherwise (its documentation, models.md). */
function compatibleSettings(model: string): Setting[] {
  const provider = ["providers", PROVIDERS.chat];
  const name = [...provider, "models", { where: { id: model } }, "name"];
  const purpose = "makes the model available";
  return [
    { keyPath: [...provider, "api"], value: "openai-completions", purpose: "uses Chat Completions" },
    { keyPath: name, value: model, purpose, acceptsAnyValue: true },
  ];
}

/** The recipe redirects the built-in providers, so that their model lists stay available. */
export const pi: ConnectableTool = {
  name: "pi",
  title: "Pi",
  source: "https://pi.dev/docs/latest/models",
  date: "2026-11-22",
  tried: "0.74.2",
  programs: ["pi"],
  homePaths: [".pi"],
  recorded: { source: "npm package @earendil-works/pi-coding-agent 0.74.2", date: "2026-11-21" },
  requestSignatures: [
    { when: { session_id: PRESENT, "user-agent": /^OpenAI\/JS / }, isWeak: true },
    // LangChain also turns on the Anthropic SDK's browser mode, but asks for no beta. Pi does for older models only.
    {
      when: {
        "user-agent": /^Anthropic\/JS /,
        "anthropic-dangerous-direct-browser-access": PRESENT,
        "anthropic-beta": /interleaved-thinking/,
      },
      isWeak: true,
    },
  ],
  processSignatures: [
    // It also takes this name as the title of its process, in place of the arguments.
    { names: ["pi"] },
    { path: /\/pi-coding-agent\// },
  ],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => filesIn(configDirectory(host), "models.json", "auth.json", "settings.json"),
  scopes: ["user"],
  modelApis: [],
  conflicts: { sources, modelApis: MODEL_APIS, find: findConflicts },
  plan(host, endpoint) {
    const { baseUrl, credential, model } = endpoint;
    const baseUrls = { messages: baseUrl, responses: `${baseUrl}/v1`, chat: `${baseUrl}/v1` };
    const isChat = model !== null && inferModelApi(model) === "chat";
    const apis = MODEL_APIS.filter((api) => api !== "chat" || isChat);
    const providers = apis.flatMap((api): Setting[] => {
      const provider = ["providers", PROVIDERS[api]];
      return [
        { keyPath: [...provider, "baseUrl"], value: baseUrls[api], purpose: PURPOSE.baseUrl },
        { keyPath: [...provider, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
      ];
    });
    if (isChat) providers.push(...compatibleSettings(model));
    const directory = configDirectory(host);
    const models: FileSettings = {
      path: join(directory, "models.json"),
      format: "jsonc",
      settings: providers,
    };
    if (model === null) return { files: [models], remarks: [] };
    const settings = choiceOf(model);
    return {
      files: [models, { path: join(directory, "settings.json"), format: "jsonc", settings }],
      remarks: [
        "Pi ignores a default model that it does not know; pi --list-models shows those that it knows.",
      ],
    };
  },
  environment: () => null,
};
