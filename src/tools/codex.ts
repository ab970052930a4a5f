import { join } from "node:path";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

const PROVIDER = "tollkeeper";

/** Holds the local token. In the arguments, every user of the machine could read it. */
const TOKEN_VARIABLE = "TOLLKEEPER_TOKEN";

const configDirectory = directoryOf("CODEX_HOME", ".codex");

/** A provider of its own: Codex would send a saved login to the built-in one, and try a WebSocket first. */
function providerFields({ baseUrl }: LocalEndpoint) {
  return [
    { name: "name", value: PROVIDER, purpose: "what Codex calls it" },
    { name: "base_url", value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { name: "wire_api", value: "responses", purpose: "the API that it speaks" },
    {
      name: "supports_websockets",
      value: false,
      purpose: "no websocket is tried, which tollkeeper would refuse",
    },
  ];
}

/** Codex: the program, its SDK, and its extensions for editors, which read the same file. */
export const codex: ConnectableTool = {
  name: "codex",
  title: "Codex",
  source: "https://developers.openai.com/codex/config-sample",
  date: "2026-11-22",
  tried: "0.169.0",
  programs: ["codex"],
  homePaths: [".codex/auth.json", ".codex/sessions"],
  recorded: { source: "npm package @openai/codex 0.169.0", date: "2026-11-21" },
  requestSignatures: [{ when: { originator: /^codex/ } }, { when: { "user-agent": /^codex/ } }],
  processSignatures: [{ names: ["codex", "codex-code-mode-host"] }, { path: /\/@openai\/codex[^/]*\// }],
  configFiles: (host) => filesIn(configDirectory(host), "config.toml", "auth.json", ".env"),
  // In a project's config.toml it ignores providers, and warns of them.
  scopes: ["user"],
  modelApi: null,
  plan(host, endpoint) {
    const table = ["model_providers", PROVIDER];
    const settings: Setting[] = [
      { keyPath: ["model_provider"], value: PROVIDER, purpose: PURPOSE.provider },
      ...providerFields(endpoint).map(({ name, ...field }) => ({ keyPath: [...table, name], ...field })),
    ];
    if (endpoint.isToken) {
      const keyPath = [...table, "experimental_bearer_token"];
      settings.push({ keyPath, value: endpoint.credential, purpose: credentialPurpose(endpoint) });
    }
    if (endpoint.model !== null)
      settings.push({ keyPath: ["model"], value: endpoint.model, purpose: PURPOSE.model });
    const path = join(configDirectory(host), "config.toml");
    return { files: [{ path, format: "toml", settings }], remarks: [] };
  },
  environment(_host, endpoint) {
    const fields = providerFields(endpoint).map(({ name, value }) => `${name}=${JSON.stringify(value)}`);
    if (endpoint.isToken) fields.push(`env_key=${JSON.stringify(TOKEN_VARIABLE)}`);
    const options = [`model_provider="${PROVIDER}"`, `model_providers.${PROVIDER}={${fields.join(",")}}`];
    if (endpoint.model !== null) options.push(`model=${JSON.stringify(endpoint.model)}`);
    return {
      variables: endpoint.isToken ? { [TOKEN_VARIABLE]: endpoint.credential } : {},
      flags: options.flatMap((option) => ["-c", option]),
    };
  },
};
