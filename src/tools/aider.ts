import type { Destination, Recipe } from "./recipe.ts";
import { ADDRESS, credentialReason, MODEL } from "./reasons.ts";
import { planVariables } from "./start-up-file.ts";
import type { Variable } from "./variables.ts";

/** By Messages: what it sends as OpenAI's are chat completions, which tollkeeper does not serve by itself. */
function modelName(model: string): string {
  return model.includes("/") ? model : `anthropic/${model}`;
}

/**
 * Options of its own, which no other program reads, because a list in its configuration cannot get one more item without
 * taking part in the person's. The library under it reads the base URL from its environment
 * (https://docs.litellm.ai/docs/providers/anthropic), which the option sets.
 */
function variablesFor(to: Destination): Variable[] {
  const variables: Variable[] = [
    { name: "AIDER_SET_ENV", value: `ANTHROPIC_API_BASE=${to.baseUrl}`, why: ADDRESS },
    { name: "AIDER_ANTHROPIC_API_KEY", value: to.credential, why: credentialReason(to) },
  ];
  if (to.model !== null) variables.push({ name: "AIDER_MODEL", value: modelName(to.model), why: MODEL });
  return variables;
}

export const aider: Recipe = {
  tool: "aider",
  title: "aider",
  source: "https://aider.chat/docs/config/dotenv.html",
  date: "2026-11-22",
  tried: null,
  signs: { programs: ["aider"], files: [".aider.conf.yml", ".aider"] },
  scopes: ["user"],
  modelOf: "messages",
  plan(on, to) {
    const { files, remarks } = planVariables(on, variablesFor(to));
    return {
      files,
      remarks: [
        ...remarks,
        "A set-env in .aider.conf.yml is not read meanwhile: aider takes one of the two.",
      ],
    };
  },
  environment(_on, to) {
    const variables = { ANTHROPIC_API_BASE: to.baseUrl, ANTHROPIC_API_KEY: to.credential };
    const model = to.model === null ? {} : { AIDER_MODEL: modelName(to.model) };
    return { variables: { ...variables, ...model }, flags: [] };
  },
};
