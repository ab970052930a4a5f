import { join } from "node:path";
import type { Conflict, SettingsLayer } from "../conflict.ts";
import { configHome } from "../recipe/directories.ts";
import { findOtherBaseUrl, findSetting, findText, jsonSource, otherModel } from "../recipe/layers.ts";
import { inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "../recipe/settings.ts";
import type { Setting } from "../setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "../tool.ts";
import { EDITOR_LIST } from "./editor.ts";

/** Where the base URL of each of our providers is, and how Zed calls the provider in its settings for agents. */
const PROVIDERS = {
  anthropic: { title: "Anthropic", path: ["language_models", "anthropic"] },
  tollkeeper: { title: "tollkeeper", path: ["language_models", "openai_compatible", "tollkeeper"] },
};

/**
 * Zed asks for usage itself (https://github.com/zed-industries/zed/pull/45812). Its built-in provider for OpenAI also uses
 * Chat Completions for most models, so a provider of our own serves all but Claude's.
 */
function providerFor(model: string | null): keyof typeof PROVIDERS {
  return model === null || inferModelApi(model) === "messages" ? "anthropic" : "tollkeeper";
}

/** Zed has no default for the size of the context window. */
const CONTEXT_WINDOW = 128_000;

/** Its settings cannot hold keys. */
function keyRemark({ credential, isToken, model }: LocalEndpoint): string {
  const what = isToken
    ? "a local token, created with: tollkeeper token add zed"
    : `any text, such as ${credential}, if no key is stored yet`;
  const { title } = PROVIDERS[providerFor(model)];
  return `Zed keeps keys in the system's keychain: enter ${what}, for ${title} in its Agent settings.`;
}

const settingsFile = (host: ToolHost) => join(configHome(host), "zed", "settings.json");

/** https://zed.dev/docs/ai/agent-settings: those without a model of their own use the default one. */
const MODELS = [
  "default_model",
  "inline_assistant_model",
  "commit_message_model",
  "thread_summary_model",
  "subagent_model",
];

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const chosen = MODELS.flatMap((name) => {
    const found = findText(layers, "agent", name, "provider");
    if (found === null || Object.hasOwn(PROVIDERS, found.value)) return [];
    const remedies = (model: string) => choiceOf(name, model);
    return [otherModel(found, `Zed uses the provider ${found.value}`, endpoint, remedies)];
  });
  const urls = Object.values(PROVIDERS).map(({ path }) => findSetting(layers, ...path, "api_url"));
  return [...chosen, ...urls.flatMap((url) => findOtherBaseUrl(url, endpoint))];
}

function choiceOf(name: string, model: string): Setting[] {
  return [
    { keyPath: ["agent", name, "provider"], value: providerFor(model), purpose: PURPOSE.provider },
    { keyPath: ["agent", name, "model"], value: model, purpose: PURPOSE.model },
  ];
}

/** Zed lists only the models of such a provider that have an entry. */
function compatibleSettings(baseUrl: string, model: string): Setting[] {
  const { path } = PROVIDERS.tollkeeper;
  const purpose = "the context window in tokens, which Zed requires: adjust it to the model";
  const size = [...path, "available_models", { where: { name: model } }, "max_tokens"];
  return [
    { keyPath: [...path, "api_url"], value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { keyPath: size, value: CONTEXT_WINDOW, purpose, acceptsAnyValue: true },
  ];
}

/** Zed's own agent and inline assistant. Claude Code, Codex and others that run in Zed have recipes of their own. */
export const zed: ConnectableTool = {
  name: "zed",
  title: "Zed",
  source: "https://zed.dev/docs/ai/use-api-access",
  date: "2026-11-22",
  tried: null,
  programs: ["zed", "zeditor"],
  homePaths: [".config/zed", ".local/share/zed", "Library/Application Support/Zed"],
  isEditor: true,
  recorded: EDITOR_LIST,
  requestSignatures: [
    {
      when: { "user-agent": /^Zed\// },
      source: "https://github.com/zed-industries/zed, crates/zed/src/main.rs",
    },
  ],
  processSignatures: [
    { names: ["zed", "zed-editor"] },
    { names: ["zeditor", "zedit"], source: "https://zed.dev/docs/linux" },
  ],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => [join(configHome(host), "zed", "settings.json")],
  conflicts: {
    sources: (host) => [jsonSource("user", settingsFile(host))],
    modelApis: MODEL_APIS,
    find: findConflicts,
  },
  scopes: ["user"],
  modelApis: [],
  plan(host, endpoint) {
    const { baseUrl, model } = endpoint;
    const keyPath = [...PROVIDERS.anthropic.path, "api_url"];
    const settings: Setting[] = [{ keyPath, value: baseUrl, purpose: PURPOSE.baseUrl }];
    if (model !== null) {
      if (providerFor(model) === "tollkeeper") settings.push(...compatibleSettings(baseUrl, model));
      settings.push(...choiceOf("default_model", model));
    }
    return {
      files: [{ path: settingsFile(host), format: "jsonc", settings }],
      remarks: [keyRemark(endpoint)],
    };
  },
  environment: () => null,
};
