import { join } from "node:path";
import type { HostInfo } from "../core/host-info.ts";
import { TOKEN_HEADER } from "../core/http/credential-headers.ts";
import { PRESENT } from "../core/identity/signatures.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { CLAUDE_CLOUDS } from "./recipe/conflicting-variables.ts";
import { directoryOf, filesIn, managedDirectory } from "./recipe/directories.ts";
import {
  elsewhere,
  findOtherBaseUrl,
  findOtherCredential,
  findSetting,
  findText,
  jsonSource,
  type FoundSetting,
} from "./recipe/layers.ts";
import { isOwnStatusLine } from "./recipe/status-line.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import { toEnvironment, type Variable } from "./recipe/variables.ts";
import type { Setting } from "./setting.ts";
import type { Account, ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

const configDirectory = directoryOf("CLAUDE_CONFIG_DIR", ".claude");

/** The file that it keeps its own state in. */
function stateFile(host: HostInfo): string {
  const directory = host.env["CLAUDE_CONFIG_DIR"] === undefined ? host.home : configDirectory(host);
  return join(directory, ".claude.json");
}

/** Returns the directories of its logs: a file for each session, in folders. */
export function claudeCodeLogs(host: HostInfo): string[] {
  return filesIn(configDirectory(host), "projects");
}

/** In its settings they override the shell's. What each does was measured (docs/wire.md section 3). */
function variablesFor(endpoint: LocalEndpoint): Variable[] {
  const { baseUrl, smallModel, isFirstParty, reach, account } = endpoint;
  const { isAnthropic, bedrockRegion } = reach;
  if (bedrockRegion !== null) return bedrockVariables(endpoint, bedrockRegion);
  return [
    { name: "ANTHROPIC_BASE_URL", value: baseUrl, purpose: PURPOSE.baseUrl },
    ...credentialFor(endpoint),
    // What it takes for Anthropic's own service has its own small model.
    ...(smallModel === null || isFirstParty ? [] : [{ ...SMALL_MODEL, value: smallModel }]),
    isAnthropic ? TOOL_SEARCH : NO_TOOL_SEARCH,
    ...(isAnthropic ? [] : [NO_ATTRIBUTION]),
    ...(account === "key" ? [MODEL_DISCOVERY] : []),
    HINT_HEADERS,
    ...(isFirstParty ? [FIRST_PARTY] : []),
  ];
}

/**
 * https://code.claude.com/docs/en/amazon-bedrock and https://code.claude.com/docs/en/llm-gateway. Claude Code has its own small model there, and
 * looks for no list of models.
 */
function bedrockVariables(endpoint: LocalEndpoint, region: string): Variable[] {
  const { baseUrl, credential, isToken } = endpoint;
  return [
    { name: USE_BEDROCK, value: "1", purpose: "uses Amazon Bedrock, the only API that its upstreams serve" },
    { name: BEDROCK_URL, value: baseUrl, purpose: PURPOSE.baseUrl },
    { name: "AWS_REGION", value: region, purpose: "Claude Code needs one, and names models by it" },
    // Without its own check, Claude Code sends no credential at all, and so no local token.
    isToken
      ? { name: "AWS_BEARER_TOKEN_BEDROCK", value: credential, purpose: credentialPurpose(endpoint) }
      : {
          name: "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
          value: "1",
          purpose: "signs nothing: tollkeeper adds the key",
        },
  ];
}

const [USE_BEDROCK, BEDROCK_URL] = ["CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"];

function credentialFor(endpoint: LocalEndpoint): Variable[] {
  const { credential, isToken, account } = endpoint;
  const purpose = credentialPurpose(endpoint);
  // Unlike ANTHROPIC_API_KEY it prompts for nothing. It overrides a saved login, which is then not sent.
  if (account === "key") return [{ name: "ANTHROPIC_AUTH_TOKEN", value: credential, purpose }];
  const value = `${TOKEN_HEADER}: ${credential}`;
  return isToken ? [{ name: "ANTHROPIC_CUSTOM_HEADERS", value, purpose }] : [];
}

const SMALL_MODEL = {
  name: "ANTHROPIC_DEFAULT_HAIKU_MODEL",
  purpose: "titles and other background requests use it, not the main model as behind any base URL",
};

/** Versions before 2.1.329 disable it for any base URL but their own; later ones enable it for any. */
const TOOL_SEARCH: Variable = {
  name: "ENABLE_TOOL_SEARCH",
  value: "true",
  purpose: "keeps tool search on in versions that disable it behind a proxy",
};

const NO_TOOL_SEARCH: Variable = {
  name: "ENABLE_TOOL_SEARCH",
  value: "false",
  purpose: "sends every tool whole, because only Anthropic's own service is known to search tools",
};

const NO_ATTRIBUTION: Variable = {
  name: "CLAUDE_CODE_ATTRIBUTION_HEADER",
  value: "0",
  purpose:
    "leaves out a changing first line that only Anthropic removes, so that other services can cache prompts",
};

/** Undocumented: seen in the program, and measured (docs/wire.md section 3). */
const FIRST_PARTY: Variable = {
  name: "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL",
  value: "1",
  purpose: "has Claude Code leave out nothing behind tollkeeper; its makers do not document it",
};

/** https://code.claude.com/docs/en/llm-gateway-protocol, as the next. It looks for none with a login. */
const MODEL_DISCOVERY: Variable = {
  name: "CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY",
  value: "1",
  purpose: "offers in /model the Claude models that tollkeeper lists",
};

const HINT_HEADERS: Variable = {
  name: "CLAUDE_CODE_GATEWAY_HINT_HEADERS",
  value: "1",
  purpose: "says of each request whether it is the main one, a subagent's or in the background",
};

/** Of two credentials the bearer token wins: https://code.claude.com/docs/en/authentication, "Authentication precedence". */
const SECOND_CREDENTIAL = "Claude Code sends it in addition to ANTHROPIC_AUTH_TOKEN, which wins";

/** The same page: each of these comes before the login. */
const BEFORE_LOGIN = "Claude Code sends it instead of its login, and tollkeeper refuses such requests";

/** https://code.claude.com/docs/en/settings, "Settings precedence". Settings override the shell's variables. */
function sources(host: ToolHost): SettingsSource[] {
  const managed = managedDirectory(host, "claude-code", "ClaudeCode");
  const parts = join(managed, "managed-settings.d");
  return [
    { kind: "environment", settings: { env: host.env } },
    jsonSource("user", join(configDirectory(host), "settings.json")),
    ...filesIn(join(host.directory, ".claude"), "settings.json", "settings.local.json").map((path) =>
      jsonSource("project", path),
    ),
    jsonSource("managed", join(managed, "managed-settings.json")),
    ...host
      .list(parts)
      .filter((name) => name.endsWith(".json"))
      .toSorted()
      .map((name) => jsonSource("managed", join(parts, name))),
  ];
}

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): Conflict[] {
  const isBedrock = endpoint.reach.bedrockRegion !== null || usesBedrockHere(layers, endpoint);
  const baseUrl = findSetting(layers, "env", isBedrock ? BEDROCK_URL : "ANTHROPIC_BASE_URL");
  // The switch to a cloud comes before every credential, so the others are not sent.
  const credentials = isBedrock ? [] : OTHER_CREDENTIALS[endpoint.account];
  return [
    ...findHiddenStatusLine(layers),
    ...findOtherBaseUrl(baseUrl, endpoint),
    ...Object.entries(CLAUDE_CLOUDS).flatMap(([name, cloud]) => {
      const found = isBedrock && name === USE_BEDROCK ? null : findSetting(layers, "env", name);
      if (found === null || !/^(?:1|true|yes|on)$/i.test(String(found.value))) return [];
      const purpose = `Claude Code uses tollkeeper, not ${cloud}`;
      const remedies = [{ keyPath: ["env", name], value: "0", purpose }];
      return [elsewhere(found, `it makes Claude Code use ${cloud}`, { remedies })];
    }),
    ...credentials.flatMap((keyPath) => {
      const found = findText(layers, ...keyPath);
      const reason = endpoint.account === "key" ? SECOND_CREDENTIAL : BEFORE_LOGIN;
      // Programs that Claude Code runs may need the shell's.
      const isEmptied = found?.source.kind !== "environment";
      const remedies = isEmptied ? [{ keyPath, value: "", purpose: `left empty: ${reason}` }] : [];
      return findOtherCredential(found, endpoint, reason, remedies);
    }),
  ];
}

/** True where the settings have it use Bedrock, at tollkeeper. */
function usesBedrockHere(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): boolean {
  const found = findText(layers, "env", BEDROCK_URL);
  return endpoint.account === "key" && found !== null && findOtherBaseUrl(found, endpoint).length === 0;
}

/** What it sends beside what `connect` writes for an account, or instead of its login. */
const OTHER_CREDENTIALS: Record<Account, readonly string[][]> = {
  key: [["env", "ANTHROPIC_API_KEY"], ["apiKeyHelper"]],
  plan: [["env", "ANTHROPIC_AUTH_TOKEN"], ["env", "ANTHROPIC_API_KEY"], ["apiKeyHelper"]],
};

/** https://code.claude.com/docs/en/statusline: the strongest settings draw it, and `disableAllHooks` switches it off. */
function findHiddenStatusLine(layers: readonly SettingsLayer[]): Conflict[] {
  const isSet = layers.some(({ top }) => isOwnStatusLine(top["statusLine"]));
  const other = findSetting(layers, "statusLine");
  const switchedOff = findSetting(layers, "disableAllHooks");
  if (!isSet) return [];
  return [
    ...(other === null || isOwnStatusLine(other.value) ? [] : [hides(other, "it is another one")]),
    ...(switchedOff?.value === true ? [hides(switchedOff, "Claude Code draws none with it")] : []),
  ];
}

function hides({ source, path }: FoundSetting, reason: string): Conflict {
  return { source, path, effect: "statusline", reason, remedies: [], needsModel: false };
}

/** Claude Code, and what is built on its Agent SDK and reads its settings. */
export const claudeCode: ConnectableTool = {
  name: "claude-code",
  title: "Claude Code",
  source: "https://code.claude.com/docs/en/env-vars",
  date: "2026-11-28",
  tried: "2.1.332",
  programs: ["claude"],
  homePaths: [".claude", ".claude.json"],
  recorded: { source: "npm package @anthropic-ai/claude-code 2.1.329", date: "2026-11-21" },
  requestSignatures: [
    { when: { "x-claude-code-session-id": PRESENT } },
    { when: { "user-agent": /^claude-code\// } },
  ],
  processSignatures: [
    { names: ["claude"] },
    {
      path: /\/@anthropic-ai\/claude-(?:code|agent-sdk)[^/]*\//,
      source: "npm packages @anthropic-ai/claude-code 2.1.329, @anthropic-ai/claude-agent-sdk 0.3.329",
    },
    // The native installer names the executable after the version.
    { path: /\/claude\/versions\/[^/]+$/, source: "https://github.com/anthropics/claude-code/issues/24241" },
  ],
  configFiles(host) {
    const files = filesIn(configDirectory(host), "settings.json", "settings.local.json", ".claude.json");
    return [...files, join(host.home, ".claude.json")];
  },
  scopes: ["user", "project"],
  modelApis: [],
  smallModels: /claude.*haiku/i,
  savedLogin: {
    file: (host) => join(configDirectory(host), ".credentials.json"),
    // From `claude setup-token`, for a year.
    variable: "CLAUDE_CODE_OAUTH_TOKEN",
    // Seen with 2.1.332. It asks no service.
    status: { command: ["claude", "auth", "status"], says: /"storedClaudeAiLogin": *true/ },
  },
  hasFirstPartyMode: true,
  speaksBedrock: true,
  statusLine: ["statusLine"],
  mcpServers: {
    // https://code.claude.com/docs/en/mcp, scope "user".
    file: (host) => ({ path: stateFile(host), format: "jsonc" }),
    keyPath: ["mcpServers"],
    form: "command",
  },
  conflicts: { sources, find: findConflicts },
  plan(host, endpoint, scope) {
    const path =
      scope === "user"
        ? join(configDirectory(host), "settings.json")
        : join(host.directory, ".claude", "settings.local.json");
    const settings: Setting[] = variablesFor(endpoint).map(({ name, ...rest }) => {
      return { keyPath: ["env", name], ...rest };
    });
    if (endpoint.model !== null)
      settings.push({ keyPath: ["model"], value: endpoint.model, purpose: PURPOSE.model });
    return { files: [{ path, format: "jsonc", settings }], remarks: [] };
  },
  environment(_host, endpoint) {
    const variables = toEnvironment(variablesFor(endpoint));
    const { model } = endpoint;
    return { variables: model === null ? variables : { ...variables, ANTHROPIC_MODEL: model }, flags: [] };
  },
};
