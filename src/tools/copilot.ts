import type { Destination, Recipe } from "./recipe.ts";
import { apiOfModel } from "./api-of-model.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER } from "./reasons.ts";
import { planVariables } from "./start-up-file.ts";
import { valuesOf, type Variable } from "./variables.ts";

/** `copilot help providers`. It sends no credential by itself, and asks for no login at GitHub with a base URL. */
function variablesFor(to: Destination): Variable[] {
  const variables: Variable[] = to.isToken
    ? [{ name: "COPILOT_PROVIDER_API_KEY", value: to.credential, why: credentialReason(to) }]
    : [];
  if (apiOfModel(to.model ?? "claude") === "messages") {
    variables.push(
      { name: "COPILOT_PROVIDER_BASE_URL", value: to.baseUrl, why: ADDRESS },
      { name: "COPILOT_PROVIDER_TYPE", value: "anthropic", why: PROVIDER },
    );
  } else {
    variables.push(
      { name: "COPILOT_PROVIDER_BASE_URL", value: `${to.baseUrl}/v1`, why: ADDRESS },
      { name: "COPILOT_PROVIDER_TYPE", value: "openai", why: PROVIDER },
      {
        name: "COPILOT_PROVIDER_WIRE_API",
        value: "responses",
        why: "the API that it speaks; by itself it takes chat completions",
      },
    );
  }
  if (to.model !== null) variables.push({ name: "COPILOT_MODEL", value: to.model, why: MODEL });
  return variables;
}

/** GitHub's Copilot in the terminal; the one in VS Code is another tool. */
export const copilot: Recipe = {
  tool: "copilot",
  title: "Copilot CLI",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "1.0.102",
  signs: { programs: ["copilot"], files: [".copilot"] },
  scopes: ["user"],
  modelOf: "messages",
  plan: (on, to) => planVariables(on, variablesFor(to)),
  environment: (_on, to) => ({ variables: valuesOf(variablesFor(to)), flags: [] }),
};
