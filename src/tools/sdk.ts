import type { Destination, Recipe } from "./recipe.ts";
import { ADDRESS, credentialReason } from "./reasons.ts";
import { planVariables } from "./start-up-file.ts";
import { valuesOf, type Variable } from "./variables.ts";

/**
 * The AI SDK adds no `/v1` to Anthropic's address and the others do; without one it suits all, because tollkeeper knows
 * each route in both spellings.
 */
function variablesFor(to: Destination): Variable[] {
  return [
    { name: "ANTHROPIC_BASE_URL", value: to.baseUrl, why: ADDRESS },
    { name: "ANTHROPIC_API_KEY", value: to.credential, why: credentialReason(to) },
    { name: "OPENAI_BASE_URL", value: `${to.baseUrl}/v1`, why: ADDRESS },
    { name: "OPENAI_API_KEY", value: to.credential, why: credentialReason(to) },
  ];
}

/** Programs on the makers' libraries, and on those built on them: AI SDK, LangChain, OpenAI Agents, Claude Agent SDK. */
export const sdk: Recipe = {
  tool: "sdk",
  title: "SDK environment",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "@anthropic-ai/sdk 1.11.0, openai 7.55.0, ai 7.0.173",
  signs: { programs: [], files: [] },
  scopes: ["user"],
  modelOf: null,
  plan(on, to) {
    const { files, remarks } = planVariables(on, variablesFor(to));
    const others =
      "Tools that read these variables and are not connected themselves come here under this name, too.";
    return { files, remarks: [...remarks, others] };
  },
  environment: (_on, to) => ({ variables: valuesOf(variablesFor(to)), flags: [] }),
};
