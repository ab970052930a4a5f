import { join } from "node:path";
import { credentialPurpose, inferModelApi, MODEL_APIS, PURPOSE } from "./recipe/settings.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

/** Its `baseUrl` is the whole URL of the route; it appends nothing. */
const ROUTES = { messages: "/v1/messages", responses: "/v1/responses", chat: "/v1/chat/completions" };

const API_TYPES = { messages: "Anthropic", responses: "OpenAIResponses", chat: "OpenAICompletion" };

function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  if (model === null) return [];
  const api = inferModelApi(model);
  return [
    { keyPath: ["id"], value: model, purpose: PURPOSE.model },
    { keyPath: ["baseUrl"], value: baseUrl + ROUTES[api], purpose: PURPOSE.baseUrl },
    { keyPath: ["apiType"], value: API_TYPES[api], purpose: "the API to use" },
    { keyPath: ["apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
  ];
}

/** JetBrains' Junie in the terminal. The recipe writes a model profile, which is a file of its own. */
export const junie: ConnectableTool = {
  name: "junie",
  title: "Junie CLI",
  source: "https://junie.jetbrains.com/docs/custom-llm-models.html",
  date: "2026-11-22",
  tried: null,
  programs: ["junie"],
  homePaths: [".junie"],
  scopes: ["user", "project"],
  modelApis: MODEL_APIS,
  plan(host, endpoint, scope) {
    const parent = scope === "user" ? host.home : host.directory;
    const path = join(parent, ".junie", "models", "tollkeeper.json");
    return {
      files: [{ path, format: "jsonc", settings: settingsFor(endpoint) }],
      remarks: ['In Junie, choose the model "tollkeeper": connecting only adds it to the list.'],
    };
  },
  environment: () => null,
};
