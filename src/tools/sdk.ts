import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import { planVariables, toEnvironment, variableConflicts, type Variable } from "./recipe/variables.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

/** ANTHROPIC_BASE_URL has no `/v1`: all but the AI SDK append it, and tollkeeper serves each route with and without. */
function variablesFor(endpoint: LocalEndpoint): Variable[] {
  const { baseUrl, credential } = endpoint;
  return [
    { name: "ANTHROPIC_BASE_URL", value: baseUrl, purpose: PURPOSE.baseUrl },
    { name: "ANTHROPIC_API_KEY", value: credential, purpose: credentialPurpose(endpoint) },
    { name: "OPENAI_BASE_URL", value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { name: "OPENAI_API_KEY", value: credential, purpose: credentialPurpose(endpoint) },
  ];
}

/** Variables cannot make them ask, and some libraries stop asking once a base URL is set (docs/wire.md section 7). */
const ASK_FOR_USAGE =
  "For Chat Completions, programs have to ask for the usage of streams: with stream_options.include_usage; in LangChain for Python stream_usage=True; in the AI SDK's openai-compatible provider includeUsage.";

/** Programs written with the makers' libraries, or with what is built on them. Also the recipe for any unknown program. */
export const sdk: ConnectableTool = {
  name: "sdk",
  title: "SDK environment",
  source: "https://github.com/anthropics/anthropic-sdk-typescript",
  date: "2026-11-22",
  tried: "@anthropic-ai/sdk 1.11.0, openai 7.55.0, ai 7.0.173",
  programs: [],
  homePaths: [],
  // Older libraries of OpenAI read OPENAI_API_BASE.
  conflicts: variableConflicts(
    ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"],
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"],
  ),
  scopes: ["user"],
  modelApis: [],
  plan(host, endpoint) {
    const { files, remarks } = planVariables(host, variablesFor(endpoint));
    const others = "Tools that read these variables and are not connected are recorded as sdk.";
    return { files, remarks: [...remarks, others, ASK_FOR_USAGE] };
  },
  environment: (_host, endpoint) => ({ variables: toEnvironment(variablesFor(endpoint)), flags: [] }),
};
