import { join } from "node:path";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

/** Its settings hold the name of a variable for each key, never the key. */
const KEY_VARIABLE = "TOLLKEEPER_QWEN_CODE";

/** With `openai` it speaks chat completions, a route that tollkeeper does not serve by default. */
const AUTH_TYPE = "anthropic";

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
      purpose: "where it finds what goes in the key's place",
    },
    { keyPath: ["model", "name"], value: model, purpose: PURPOSE.model },
  ];
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
  scopes: ["user", "project"],
  modelApi: "messages",
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
