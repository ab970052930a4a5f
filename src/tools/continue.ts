import { join } from "node:path";
import type { Conflict, SettingsLayer } from "./conflict.ts";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { elsewhere, findText, jsonSource } from "./recipe/layers.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Names the entry in its list of models. */
const ENTRY = "tollkeeper";

const configDirectory = directoryOf("CONTINUE_GLOBAL_DIR", ".continue");

/**
 * Its providers for the APIs. `openai` uses the Responses API for the names of OpenAI's newer models, and Chat Completions
 * for all others. It asks for usage in every stream (https://github.com/continuedev/continue,
 * packages/openai-adapters/src/apis/OpenAI.ts).
 */
const PROVIDERS = { messages: "anthropic", responses: "openai", chat: "openai" };

function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  const entry = ["models", { where: { name: ENTRY } }];
  const why = { purpose: PURPOSE.required, acceptsAnyValue: true } as const;
  const required: Setting[] = [
    { keyPath: ["name"], value: "Local Config", ...why },
    { keyPath: ["version"], value: "1.0.0", ...why },
    { keyPath: ["schema"], value: "v1", ...why },
  ];
  if (model === null) return required;
  return [
    ...required,
    { keyPath: [...entry, "provider"], value: PROVIDERS[inferModelApi(model)], purpose: PURPOSE.provider },
    { keyPath: [...entry, "model"], value: model, purpose: PURPOSE.model },
    { keyPath: [...entry, "apiBase"], value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { keyPath: [...entry, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
  ];
}

/** What cn remembers between its runs. */
const memoryFile = (host: ToolHost) => join(configDirectory(host), "index", "globalContext.json");

/** Choosing a model in cn changes this setting. */
function findConflicts(layers: readonly SettingsLayer[]): Conflict[] {
  const selected = findText(layers, "cliSelectedModel");
  if (selected === null || selected.value === ENTRY) return [];
  return [elsewhere(selected, `cn starts with the model ${selected.value}`)];
}

/** Continue's program and its extensions for editors, which share a file. */
export const continueDev: ConnectableTool = {
  name: "continue",
  title: "Continue",
  source: "https://docs.continue.dev/reference",
  date: "2026-11-22",
  tried: "1.5.47",
  programs: ["cn"],
  homePaths: [".continue"],
  recorded: { source: "npm package @continuedev/cli 1.5.47", date: "2026-11-21" },
  requestSignatures: [{ when: { "user-agent": /^(?:ls\/JS |node-fetch$)/ }, isWeak: true }],
  processSignatures: [{ names: ["cn"] }, { path: /\/@continuedev\/cli\// }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => filesIn(configDirectory(host), "config.yaml", "config.json", ".env"),
  conflicts: {
    sources: (host) => [jsonSource("user", memoryFile(host))],
    find: findConflicts,
  },
  scopes: ["user"],
  modelApis: MODEL_APIS,
  plan(host, endpoint) {
    // Without it, cn starts with the first model of its list.
    const selected: Setting = {
      keyPath: ["cliSelectedModel"],
      value: ENTRY,
      purpose: "the model that cn starts with",
    };
    return {
      files: [
        { path: join(configDirectory(host), "config.yaml"), format: "yaml", settings: settingsFor(endpoint) },
        { path: memoryFile(host), format: "jsonc", settings: [selected] },
      ],
      remarks: [`In editors, choose the model "${ENTRY}" in Continue's list.`],
    };
  },
  environment: () => null,
};
