import { join } from "node:path";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import { filesIn, managedDirectory } from "./recipe/directories.ts";
import { elsewhere, findText, jsonSource } from "./recipe/layers.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import { planVariables, toEnvironment, variableConflicts, type Variable } from "./recipe/variables.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "./tool.ts";

/** What Gemini CLI calls a key of its own. With any other kind it ignores the variables, or ends with status 41. */
const KEY_AUTH = "gemini-api-key";

const AUTH_PATH = ["security", "auth", "selectedType"];

/** The base URL has no version: Gemini CLI appends `/v1beta`. */
function variablesFor(endpoint: LocalEndpoint): Variable[] {
  return [
    { name: "GOOGLE_GEMINI_BASE_URL", value: endpoint.baseUrl, purpose: PURPOSE.baseUrl },
    { name: "GEMINI_API_KEY", value: endpoint.credential, purpose: credentialPurpose(endpoint) },
  ];
}

function settingsFor({ model }: LocalEndpoint): Setting[] {
  const auth = { keyPath: AUTH_PATH, value: KEY_AUTH, purpose: "uses the key of the variable, and no login" };
  return model === null
    ? [auth]
    : [auth, { keyPath: ["model", "name"], value: model, purpose: PURPOSE.model }];
}

const settingsFile = ({ home }: Pick<ToolHost, "home">) => join(home, ".gemini", "settings.json");

/** https://geminicli.com/docs/reference/configuration, "Settings files". */
function sources(host: ToolHost): SettingsSource[] {
  const managed = managedDirectory(host, "gemini-cli", "GeminiCli");
  return [
    jsonSource(
      "managed",
      host.env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] ?? join(managed, "system-defaults.json"),
    ),
    jsonSource("user", settingsFile(host)),
    jsonSource("project", join(host.directory, ".gemini", "settings.json")),
    jsonSource("managed", host.env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] ?? join(managed, "settings.json")),
  ];
}

const variables = variableConflicts(["GOOGLE_GEMINI_BASE_URL"], ["GOOGLE_API_KEY"]);

function findConflicts(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): readonly Conflict[] {
  const chosen = findText(layers, ...AUTH_PATH);
  const isOurs = chosen === null || chosen.value === KEY_AUTH;
  const remedies = [
    { keyPath: AUTH_PATH, value: KEY_AUTH, purpose: "uses the key of the variable, and no login" },
  ];
  const other = isOurs ? [] : [elsewhere(chosen, `Gemini CLI signs in by ${chosen.value}`, { remedies })];
  return [...other, ...variables.find(layers, endpoint)];
}

/** Google ended the login for consumers; with a key it uses Google's API alone (docs/wire.md section 12). */
export const geminiCli: ConnectableTool = {
  name: "gemini-cli",
  title: "Gemini CLI",
  source: "https://geminicli.com/docs/reference/configuration",
  date: "2026-11-29",
  tried: "0.61.0",
  programs: ["gemini"],
  homePaths: [".gemini"],
  recorded: { source: "npm package @google/gemini-cli 0.61.0", date: "2026-11-29" },
  requestSignatures: [{ when: { "user-agent": /^GeminiCLI(?:-[\w.]+)?\// } }],
  processSignatures: [{ names: ["gemini"] }, { path: /\/@google\/gemini-cli\// }],
  configFiles: (host) => filesIn(join(host.home, ".gemini"), "settings.json", ".env"),
  conflicts: { sources: (host) => [...sources(host), ...variables.sources(host)], find: findConflicts },
  scopes: ["user"],
  modelApis: [],
  mcpServers: {
    // https://geminicli.com/docs/tools/mcp-server
    file: (host) => ({ path: settingsFile(host), format: "jsonc" }),
    keyPath: ["mcpServers"],
    form: "command",
  },
  plan(host, endpoint) {
    const { files, remarks } = planVariables(host, variablesFor(endpoint));
    const settings = { path: settingsFile(host), format: "jsonc", settings: settingsFor(endpoint) } as const;
    return { files: [settings, ...files], remarks };
  },
  environment(_host, endpoint) {
    const flags = endpoint.model === null ? [] : ["--model", endpoint.model];
    return { variables: toEnvironment(variablesFor(endpoint)), flags };
  },
};
