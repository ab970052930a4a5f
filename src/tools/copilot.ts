import { join } from "node:path";
import { PRESENT } from "../core/identity/signatures.ts";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE, UPDATE_SERVICE } from "./recipe/settings.ts";
import { planVariables, toEnvironment, variableConflicts, type Variable } from "./recipe/variables.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

/** See `copilot help providers`. With a base URL it needs no GitHub login, and by default it sends no credential. */
function variablesFor(endpoint: LocalEndpoint): Variable[] {
  const { baseUrl, credential, isToken, model } = endpoint;
  const variables: Variable[] = isToken
    ? [{ name: "COPILOT_PROVIDER_API_KEY", value: credential, purpose: credentialPurpose(endpoint) }]
    : [];
  const api = inferModelApi(model ?? "claude");
  if (api === "messages") {
    variables.push(
      { name: "COPILOT_PROVIDER_BASE_URL", value: baseUrl, purpose: PURPOSE.baseUrl },
      { name: "COPILOT_PROVIDER_TYPE", value: "anthropic", purpose: PURPOSE.provider },
    );
  } else {
    variables.push(
      { name: "COPILOT_PROVIDER_BASE_URL", value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
      { name: "COPILOT_PROVIDER_TYPE", value: "openai", purpose: PURPOSE.provider },
      {
        name: "COPILOT_PROVIDER_WIRE_API",
        value: api === "responses" ? "responses" : "completions",
        purpose: "the API to use",
      },
    );
  }
  if (model !== null) variables.push({ name: "COPILOT_MODEL", value: model, purpose: PURPOSE.model });
  return variables;
}

/** GitHub Copilot in the terminal. Copilot in VS Code is another tool: editors/vscode.ts. */
export const copilot: ConnectableTool = {
  name: "copilot",
  title: "Copilot CLI",
  source: "https://www.npmjs.com/package/@github/copilot",
  date: "2026-11-22",
  tried: "1.0.102",
  programs: ["copilot"],
  homePaths: [".copilot"],
  recorded: { source: "npm package @github/copilot 1.0.102", date: "2026-11-21" },
  requestSignatures: [{ when: { "x-initiator": PRESENT, "user-agent": /^(?:OpenAI|Anthropic)\/JS / } }],
  processSignatures: [{ names: ["copilot", "copilot-linux-x64"] }, { path: /\/@github\/copilot[^/]*\// }],
  usageRemedy: UPDATE_SERVICE,
  configFiles: ({ home }) => [join(home, ".copilot", "config.json")],
  conflicts: variableConflicts(
    ["COPILOT_PROVIDER_BASE_URL"],
    ["COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN"],
  ),
  scopes: ["user"],
  modelApis: MODEL_APIS,
  plan: (host, endpoint) => planVariables(host, variablesFor(endpoint)),
  environment: (_host, endpoint) => ({ variables: toEnvironment(variablesFor(endpoint)), flags: [] }),
};
