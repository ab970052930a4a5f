import { join } from "node:path";
import { PRESENT } from "../core/identity/signatures.ts";
import type { Conflict, SettingsLayer } from "./conflict.ts";
import { configHome, filesIn } from "./recipe/directories.ts";
import { elsewhere, findOtherBaseUrl, findSetting, findText } from "./recipe/layers.ts";
import { inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** One of its providers, and what it reads from its settings or its environment. */
interface GooseProvider {
  name: string;
  title: string;
  hostSetting: string;
  keyVariable: string;
}

const ANTHROPIC: GooseProvider = {
  name: "anthropic",
  title: "Anthropic",
  hostSetting: "ANTHROPIC_HOST",
  keyVariable: "ANTHROPIC_API_KEY",
};

/**
 * Uses the Responses API for some names of OpenAI's models, else Chat Completions, and asks for usage
 * (https://github.com/aaif-goose/goose, crates/goose/src/providers/openai.rs).
 */
const OPENAI: GooseProvider = {
  name: "openai",
  title: "OpenAI",
  hostSetting: "OPENAI_HOST",
  keyVariable: "OPENAI_API_KEY",
};

/** Where OPENAI sends requests, below its host; the default. */
const CHAT_PATH = { OPENAI_BASE_PATH: "v1/chat/completions" };

function providerFor(model: string | null): GooseProvider {
  return model === null || inferModelApi(model) === "messages" ? ANTHROPIC : OPENAI;
}

/** It ignores keys in its configuration file. */
function keyRemark({ credential, isToken, model }: LocalEndpoint): string {
  const what = isToken
    ? "a local token, created with: tollkeeper token add goose"
    : `any text, such as ${credential}`;
  return `goose keeps keys in the system's keychain: run goose configure and enter ${what}, as the ${providerFor(model).title} key.`;
}

const settingsFile = (host: ToolHost) => join(configHome(host), "goose", "config.yaml");

/** The variable overrides the setting (config-files.md of its documentation, "Provider Configuration"). */
function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const variables = layers.filter(({ source }) => source.kind === "environment");
  const chosen = findText(variables, "GOOSE_PROVIDER") ?? findText(layers, "active_provider");
  const provider = [ANTHROPIC, OPENAI].find(({ name }) => name === chosen?.value);
  const host = findSetting(layers, (provider ?? ANTHROPIC).hostSetting);
  const isOther = chosen !== null && (provider === undefined || (provider === OPENAI && host === null));
  return [
    ...(isOther ? [elsewhere(chosen, `goose uses the provider ${chosen.value}`)] : []),
    ...findOtherBaseUrl(host, endpoint),
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
  requestSignatures: [
    {
      when: { "goose-session-id": PRESENT },
      source: "https://github.com/block/goose, crates/goose/src/providers/api_client.rs",
    },
  ],
  processSignatures: [{ names: ["goose", "goosed"] }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: (host) => filesIn(configHome(host), "goose/config.yaml", "goose/secrets.yaml"),
  conflicts: {
    sources: (host) => [
      { kind: "user", path: settingsFile(host), format: "yaml" },
      { kind: "environment", settings: host.env },
    ],
    find: findConflicts,
  },
  scopes: ["user"],
  modelApis: MODEL_APIS,
  plan(host, endpoint) {
    const { name, hostSetting } = providerFor(endpoint.model);
    const settings: Setting[] = [
      { keyPath: [hostSetting], value: endpoint.baseUrl, purpose: PURPOSE.baseUrl },
      { keyPath: ["active_provider"], value: name, purpose: PURPOSE.provider },
      { keyPath: ["providers", name, "enabled"], value: true, purpose: PURPOSE.provider },
    ];
    if (name === OPENAI.name)
      for (const [setting, value] of Object.entries(CHAT_PATH))
        settings.push({ keyPath: [setting], value, purpose: "the route, below the host" });
    if (endpoint.model !== null) {
      const keyPath = ["providers", name, "model"];
      settings.push({ keyPath, value: endpoint.model, purpose: PURPOSE.model });
    }
    return {
      files: [{ path: settingsFile(host), format: "yaml", settings }],
      remarks: [keyRemark(endpoint)],
    };
  },
  environment(_host, { baseUrl, credential, model }) {
    const { name, hostSetting, keyVariable } = providerFor(model);
    const variables = {
      GOOSE_PROVIDER: name,
      [hostSetting]: baseUrl,
      ...(name === OPENAI.name && CHAT_PATH),
      [keyVariable]: credential,
    };
    return { variables: model === null ? variables : { ...variables, GOOSE_MODEL: model }, flags: [] };
  },
};
