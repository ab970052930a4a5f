import { join } from "node:path";
import type { HostInfo } from "../core/host-info.ts";
import { TOKEN_HEADER } from "../core/http/credential-headers.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { directoryOf, filesIn, managedDirectory } from "./recipe/directories.ts";
import { elsewhere, findOtherBaseUrl, findOtherCredential, findSetting, findText } from "./recipe/layers.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

const PROVIDER = "tollkeeper";

/** Holds the local token. In the arguments, every user of the machine could read it. */
const TOKEN_VARIABLE = "TOLLKEEPER_TOKEN";

const configDirectory = directoryOf("CODEX_HOME", ".codex");

/** Returns the directories of its logs: a file for each session, in folders. */
export function codexLogs(host: HostInfo): string[] {
  return filesIn(configDirectory(host), "sessions", "archived_sessions");
}

/** Codex gives a provider of this name what OpenAI's own API has (docs/wire.md section 3); without a login, it still sends none. */
const OPENAI_NAME = "OpenAI";

/** A provider of its own: Codex would send a saved login to the built-in one. For a plan it is told to, here. */
function providerFields({ baseUrl, reach, account }: LocalEndpoint) {
  const { isOpenai, hasWebSocket } = reach;
  return [
    {
      name: "name",
      value: isOpenai ? OPENAI_NAME : PROVIDER,
      purpose: isOpenai
        ? "with this name Codex keeps web search, images and the other functions that only OpenAI itself offers"
        : "with this name Codex leaves out web search, images and other functions that only OpenAI itself offers",
    },
    { name: "base_url", value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { name: "wire_api", value: "responses", purpose: "the API to use" },
    {
      name: "supports_websockets",
      value: hasWebSocket,
      purpose: hasWebSocket
        ? "one WebSocket for a conversation, so that Codex sends each part of it once"
        : 'no WebSocket but HTTP, because "websocket" in tollkeeper\'s configuration is not "auto" for each of its upstreams',
    },
    ...(account === "plan" ? [LOGIN_FIELD] : []),
  ];
}

/** https://developers.openai.com/codex/config-reference: the provider is sent what `codex login` has saved. */
const LOGIN_FIELD = {
  name: "requires_openai_auth",
  value: true,
  purpose: "Codex sends the ChatGPT login that it is signed in with",
};

/** The file of a profile, which `codex --profile NAME` lays over config.toml: Codex 0.134 and later. */
const PROFILE_FILE = /([\w-]+)\.config\.toml$/;

/** In a project's config.toml it ignores providers. */
function sources(host: ToolHost): SettingsSource[] {
  const directory = configDirectory(host);
  const profiles = host.list(directory).filter((name) => PROFILE_FILE.test(name));
  return [
    { kind: "environment", settings: { env: host.env } },
    ...["config.toml", ...profiles].map(
      (name) => ({ kind: "user", path: join(directory, name), format: "toml" }) as const,
    ),
    { kind: "managed", path: join(managedDirectory(host, "codex"), "managed_config.toml"), format: "toml" },
  ];
}

/** Measured with 0.171.0. OPENAI_API_KEY and OPENAI_BASE_URL change nothing. */
const BEFORE_LOGIN = "Codex sends it instead of its login, and tollkeeper refuses such requests";

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const always = layers.filter((layer) => profileOf(layer) === null);
  return [
    ...findOtherProvider(always, ["model_provider"], "Codex uses the provider"),
    ...findOtherBaseUrl(findSetting(always, "model_providers", PROVIDER, "base_url"), endpoint),
    ...findActiveProfile(always),
    ...(endpoint.account === "plan"
      ? findOtherCredential(findText(always, "env", "CODEX_API_KEY"), endpoint, BEFORE_LOGIN)
      : []),
    ...layers.flatMap((layer) => {
      const profile = profileOf(layer);
      if (profile === null) return [];
      const reason = `with --profile ${profile} Codex uses the provider`;
      const advice = `to use tollkeeper there too, write in that file: model_provider = "${PROVIDER}"`;
      return findOtherProvider([layer], ["model_provider"], reason).map((conflict) => {
        return { ...conflict, advice };
      });
    }),
  ];
}

function profileOf({ source }: SettingsLayer): string | null {
  return source.kind === "environment" ? null : (PROFILE_FILE.exec(source.path)?.[1] ?? null);
}

/** Codex before 0.134 follows the profile that `profile` names; later ones refuse that setting. */
function findActiveProfile(layers: readonly SettingsLayer[]): Conflict[] {
  const profile = findText(layers, "profile")?.value;
  if (profile === undefined) return [];
  const keyPath = ["profiles", profile, "model_provider"];
  const remedies = [{ keyPath, value: PROVIDER, purpose: "the provider of the active profile" }];
  return findOtherProvider(layers, keyPath, "the active profile uses the provider").map((conflict) => {
    return { ...conflict, remedies };
  });
}

function findOtherProvider(
  layers: readonly SettingsLayer[],
  keyPath: readonly string[],
  reason: string,
): Conflict[] {
  const found = findText(layers, ...keyPath);
  if (found === null || found.value === PROVIDER) return [];
  return [elsewhere(found, `${reason} ${found.value}`)];
}

/** Codex: the program, its SDK, and its extensions for editors, which read the same file. */
export const codex: ConnectableTool = {
  name: "codex",
  title: "Codex",
  source: "https://developers.openai.com/codex/config-sample",
  date: "2026-11-28",
  tried: "0.171.0",
  programs: ["codex"],
  homePaths: [".codex"],
  recorded: { source: "npm package @openai/codex 0.169.0", date: "2026-11-21" },
  requestSignatures: [{ when: { originator: /^codex/ } }, { when: { "user-agent": /^codex/ } }],
  processSignatures: [{ names: ["codex", "codex-code-mode-host"] }, { path: /\/@openai\/codex[^/]*\// }],
  configFiles: (host) => filesIn(configDirectory(host), "config.toml", "auth.json", ".env"),
  // In a project's config.toml it ignores providers, and warns about them.
  scopes: ["user"],
  modelApis: [],
  savedLogin: { file: (host) => join(configDirectory(host), "auth.json"), variable: null, status: null },
  mcpServers: {
    // https://developers.openai.com/codex/mcp
    file: (host) => ({ path: join(configDirectory(host), "config.toml"), format: "toml" }),
    keyPath: ["mcp_servers"],
    form: "command",
  },
  conflicts: { sources, find: findConflicts },
  plan(host, endpoint) {
    const table = ["model_providers", PROVIDER];
    const settings: Setting[] = [
      { keyPath: ["model_provider"], value: PROVIDER, purpose: PURPOSE.provider },
      ...providerFields(endpoint).map(({ name, ...field }) => ({ keyPath: [...table, name], ...field })),
    ];
    if (endpoint.isToken) {
      const keyPath = [
        ...table,
        ...(endpoint.account === "key" ? ["experimental_bearer_token"] : ["http_headers", TOKEN_HEADER]),
      ];
      settings.push({ keyPath, value: endpoint.credential, purpose: credentialPurpose(endpoint) });
    }
    if (endpoint.model !== null)
      settings.push({ keyPath: ["model"], value: endpoint.model, purpose: PURPOSE.model });
    const path = join(configDirectory(host), "config.toml");
    return { files: [{ path, format: "toml", settings }], remarks: [] };
  },
  environment(_host, endpoint) {
    const fields = providerFields(endpoint).map(({ name, value }) => `${name}=${JSON.stringify(value)}`);
    const token = JSON.stringify(TOKEN_VARIABLE);
    if (endpoint.isToken)
      fields.push(
        endpoint.account === "key"
          ? `env_key=${token}`
          : `env_http_headers={${JSON.stringify(TOKEN_HEADER)}=${token}}`,
      );
    const options = [`model_provider="${PROVIDER}"`, `model_providers.${PROVIDER}={${fields.join(",")}}`];
    if (endpoint.model !== null) options.push(`model=${JSON.stringify(endpoint.model)}`);
    return {
      variables: endpoint.isToken ? { [TOKEN_VARIABLE]: endpoint.credential } : {},
      flags: options.flatMap((option) => ["-c", option]),
    };
  },
};
