import { join } from "node:path";
import type { Conflict, SettingsLayer } from "../conflict.ts";
import { configHome } from "../recipe/directories.ts";
import { findOtherBaseUrl, findSetting, findText, jsonSource, otherModel } from "../recipe/layers.ts";
import { inferModelApi, PROVIDERS, PURPOSE } from "../recipe/settings.ts";
import type { Setting } from "../setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "../tool.ts";
import { EDITOR_LIST } from "./editor.ts";

const PROVIDER = PROVIDERS.messages;

const URL_SETTING = ["language_models", PROVIDER, "api_url"];

/** Its settings cannot hold keys. */
function keyRemark({ credential, isToken }: LocalEndpoint): string {
  const what = isToken
    ? "a local token, created with: tollkeeper token add zed"
    : `any text, such as ${credential}, if no key is stored yet`;
  return `Zed keeps keys in the system's keychain: enter ${what}, for Anthropic in its Agent settings.`;
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
    if (found === null || found.value === PROVIDER) return [];
    const remedies = (model: string) => choiceOf(name, model);
    return [otherModel(found, `Zed uses the provider ${found.value}`, endpoint, remedies)];
  });
  return [...chosen, ...findOtherBaseUrl(findSetting(layers, ...URL_SETTING), endpoint)];
}

/** Only Claude models go through tollkeeper. */
function choiceOf(name: string, model: string): Setting[] {
  if (inferModelApi(model) !== "messages") return [];
  return [
    { keyPath: ["agent", name, "provider"], value: PROVIDER, purpose: PURPOSE.provider },
    { keyPath: ["agent", name, "model"], value: model, purpose: PURPOSE.model },
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
  processSignatures: [
    { names: ["zed", "zed-editor"] },
    { names: ["zeditor", "zedit"], source: "https://zed.dev/docs/linux" },
  ],
  configFiles: (host) => [join(configHome(host), "zed", "settings.json")],
  conflicts: {
    sources: (host) => [jsonSource("user", settingsFile(host))],
    modelApis: ["messages"],
    find: findConflicts,
  },
  scopes: ["user"],
  modelApi: null,
  plan(host, endpoint) {
    const { baseUrl, model } = endpoint;
    const settings: Setting[] = [{ keyPath: URL_SETTING, value: baseUrl, purpose: PURPOSE.baseUrl }];
    if (model !== null) settings.push(...choiceOf("default_model", model));
    // https://github.com/zed-industries/zed, crates/open_ai: all but a few models.
    const others =
      "Only Claude models go through tollkeeper: Zed uses chat completions for most OpenAI models.";
    return {
      files: [{ path: settingsFile(host), format: "jsonc", settings }],
      remarks: [keyRemark(endpoint), others],
    };
  },
  environment: () => null,
};
