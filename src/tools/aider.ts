import { join } from "node:path";
import { credentialPurpose, PURPOSE } from "./recipe/settings.ts";
import { planVariables, type Variable } from "./recipe/variables.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

/** With `openai` it speaks chat completions, a route that tollkeeper does not serve by default. */
function modelName(model: string): string {
  return model.includes("/") ? model : `anthropic/${model}`;
}

/**
 * Variables that no other program reads. Its configuration file has a list for them, and an item added to it could not
 * be taken out again without touching the user's. AIDER_SET_ENV sets the variable from which its library takes the base
 * URL (https://docs.litellm.ai/docs/providers/anthropic).
 */
function variablesFor(endpoint: LocalEndpoint): Variable[] {
  const { baseUrl, credential, model } = endpoint;
  const variables: Variable[] = [
    { name: "AIDER_SET_ENV", value: `ANTHROPIC_API_BASE=${baseUrl}`, purpose: PURPOSE.baseUrl },
    { name: "AIDER_ANTHROPIC_API_KEY", value: credential, purpose: credentialPurpose(endpoint) },
  ];
  if (model !== null)
    variables.push({ name: "AIDER_MODEL", value: modelName(model), purpose: PURPOSE.model });
  return variables;
}

export const aider: ConnectableTool = {
  name: "aider",
  title: "aider",
  source: "https://aider.chat/docs/config/dotenv.html",
  date: "2026-11-22",
  tried: null,
  programs: ["aider"],
  homePaths: [".aider.conf.yml", ".aider"],
  processSignatures: [{ names: ["aider"], source: "https://aider.chat/docs/install.html" }],
  configFiles: ({ home }) => [join(home, ".aider.conf.yml")],
  scopes: ["user"],
  modelApi: "messages",
  plan(host, endpoint) {
    const { files, remarks } = planVariables(host, variablesFor(endpoint));
    return {
      files,
      remarks: [
        ...remarks,
        "A set-env in .aider.conf.yml is not read meanwhile: aider takes one of the two.",
      ],
    };
  },
  environment(_host, { baseUrl, credential, model }) {
    const variables = { ANTHROPIC_API_BASE: baseUrl, ANTHROPIC_API_KEY: credential };
    const choice = model === null ? {} : { AIDER_MODEL: modelName(model) };
    return { variables: { ...variables, ...choice }, flags: [] };
  },
};
