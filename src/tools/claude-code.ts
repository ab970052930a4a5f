import { join } from "node:path";
import type { HostInfo } from "../core/host-info.ts";
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
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

const configDirectory = directoryOf("CLAUDE_CONFIG_DIR", ".claude");

/** Returns the directories of its logs: a file for each session, in folders. */
export function claudeCodeLogs(host: HostInfo): string[] {
  return filesIn(configDirectory(host), "projects");
}

/** In its settings they override the shell's. */
function variablesFor(endpoint: LocalEndpoint): Variable[] {
  return [
    { name: "ANTHROPIC_BASE_URL", value: endpoint.baseUrl, purpose: PURPOSE.baseUrl },
    // Unlike ANTHROPIC_API_KEY it prompts for nothing. It overrides a saved login, which is then not sent.
    { name: "ANTHROPIC_AUTH_TOKEN", value: endpoint.credential, purpose: credentialPurpose(endpoint) },
    // Older versions disable tool search for any base URL but their own; 2.1.329 does not.
    {
      name: "ENABLE_TOOL_SEARCH",
      value: "true",
      purpose: "keeps tool search on in versions that disable it behind a proxy",
    },
  ];
}

/** Of two credentials the bearer token wins: https://code.claude.com/docs/en/authentication, "Authentication precedence". */
const SECOND_CREDENTIAL = "Claude Code sends it in addition to ANTHROPIC_AUTH_TOKEN, which wins";

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
  return [
    ...findHiddenStatusLine(layers),
    ...findOtherBaseUrl(findSetting(layers, "env", "ANTHROPIC_BASE_URL"), endpoint),
    ...Object.entries(CLAUDE_CLOUDS).flatMap(([name, cloud]) => {
      const found = findSetting(layers, "env", name);
      if (found === null || !/^(?:1|true|yes|on)$/i.test(String(found.value))) return [];
      const purpose = `Claude Code uses tollkeeper, not ${cloud}`;
      const remedies = [{ keyPath: ["env", name], value: "0", purpose }];
      return [elsewhere(found, `it makes Claude Code use ${cloud}`, { remedies })];
    }),
    ...[["env", "ANTHROPIC_API_KEY"], ["apiKeyHelper"]].flatMap((keyPath) => {
      const found = findText(layers, ...keyPath);
      // Programs that Claude Code runs may need the shell's.
      const isEmptied = found?.source.kind !== "environment";
      const purpose = `left empty: ${SECOND_CREDENTIAL}`;
      const remedies = isEmptied ? [{ keyPath, value: "", purpose }] : [];
      return findOtherCredential(found, endpoint, SECOND_CREDENTIAL, remedies);
    }),
  ];
}

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
  date: "2026-11-22",
  tried: "2.1.329",
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
  statusLine: ["statusLine"],
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
