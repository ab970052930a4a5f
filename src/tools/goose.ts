import { join } from "node:path";
import type { Conflict, SettingsLayer } from "./conflict.ts";
import { configHome, filesIn } from "./recipe/directories.ts";
import { elsewhere, findOtherBaseUrl, findSetting, findText } from "./recipe/layers.ts";
import { PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** Its provider `openai` mostly uses chat completions, a route that tollkeeper does not forward by default. */
const PROVIDER = "anthropic";

/** It ignores keys in its configuration file. */
function keyRemark({ credential, isToken }: LocalEndpoint): string {
  const what = isToken
    ? "a local token, created with: tollkeeper token add goose"
    : `any text, such as ${credential}`;
  return `goose keeps keys in the system's keychain: run goose configure and enter ${what}, as the Anthropic key.`;
}

const settingsFile = (host: ToolHost) => join(configHome(host), "goose", "config.yaml");

/** The variable overrides the setting (config-files.md of its documentation, "Provider Configuration"). */
function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const variables = layers.filter(({ source }) => source.kind === "environment");
  const chosen = findText(variables, "GOOSE_PROVIDER") ?? findText(layers, "active_provider");
  return [
    ...(chosen === null || chosen.value === PROVIDER
      ? []
      : [elsewhere(chosen, `goose uses the provider ${chosen.value}`)]),
    ...findOtherBaseUrl(findSetting(layers, "ANTHROPIC_HOST"), endpoint),
  ];
}

/** The program and the desktop application, which share a file. */
export const goose: ConnectableTool = {
  name: "goose",
  title: "goose",
  source: "https://github.com/aaif-goose/goose/blob/main/documentation/docs/guides/config-files.md",
  date: "2026-11-22",
  tried: null,
  programs: ["goose"],
  homePaths: [".config/goose"],
  recorded: {
    source: "https://mintlify.com/block/goose/installation, and /advanced/server-deployment",
    date: "2026-11-22",
  },
  processSignatures: [{ names: ["goose", "goosed"] }],
  configFiles: (host) => filesIn(configHome(host), "goose/config.yaml", "goose/secrets.yaml"),
  conflicts: {
    sources: (host) => [
      { kind: "user", path: settingsFile(host), format: "yaml" },
      { kind: "environment", settings: host.env },
    ],
    find: findConflicts,
  },
  scopes: ["user"],
  modelApi: "messages",
  plan(host, endpoint) {
    const settings: Setting[] = [
      { keyPath: ["ANTHROPIC_HOST"], value: endpoint.baseUrl, purpose: PURPOSE.baseUrl },
      { keyPath: ["active_provider"], value: PROVIDER, purpose: PURPOSE.provider },
      { keyPath: ["providers", PROVIDER, "enabled"], value: true, purpose: PURPOSE.provider },
    ];
    if (endpoint.model !== null) {
      const keyPath = ["providers", PROVIDER, "model"];
      settings.push({ keyPath, value: endpoint.model, purpose: PURPOSE.model });
    }
    return {
      files: [{ path: settingsFile(host), format: "yaml", settings }],
      remarks: [keyRemark(endpoint)],
    };
  },
  environment(_host, { baseUrl, credential, model }) {
    const variables = { GOOSE_PROVIDER: PROVIDER, ANTHROPIC_HOST: baseUrl, ANTHROPIC_API_KEY: credential };
    return { variables: model === null ? variables : { ...variables, GOOSE_MODEL: model }, flags: [] };
  },
};
