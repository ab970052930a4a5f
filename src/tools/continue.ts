import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { apiOfModel, PROVIDERS } from "./api-of-model.ts";
import { directoryOf } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER, WANTED } from "./reasons.ts";

/** Names our entry among its models, and finds it again. */
const ENTRY = "tollkeeper";

const TOP = { name: "Local Config", version: "1.0.0", schema: "v1" };

/** Its `openai` speaks Responses for the names of OpenAI's newer models. */
function settingsFor(to: Destination): Setting[] {
  const entry = ["models", { where: { name: ENTRY } }];
  const top = Object.entries(TOP).map(
    ([name, value]) => ({ at: [name], value, why: WANTED, isAnyFine: true }) as const,
  );
  if (to.model === null) return top;
  return [
    ...top,
    { at: [...entry, "provider"], value: PROVIDERS[apiOfModel(to.model)], why: PROVIDER },
    { at: [...entry, "model"], value: to.model, why: MODEL },
    { at: [...entry, "apiBase"], value: `${to.baseUrl}/v1`, why: ADDRESS },
    { at: [...entry, "apiKey"], value: to.credential, why: credentialReason(to) },
  ];
}

/** Continue's program and its extensions for editors, which share a file. */
export const continueDev: Recipe = {
  tool: "continue",
  title: "Continue",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "1.5.47",
  signs: { programs: ["cn"], files: [".continue"] },
  scopes: ["user"],
  modelOf: "messages",
  plan(on, to) {
    const directory = directoryOf(on, "CONTINUE_GLOBAL_DIR", ".continue");
    // Otherwise it begins with the first model of its list, which need not be ours.
    const chosen: Setting = { at: ["cliSelectedModel"], value: ENTRY, why: "the model that cn begins with" };
    return {
      files: [
        { path: join(directory, "config.yaml"), format: "yaml", settings: settingsFor(to) },
        { path: join(directory, "index", "globalContext.json"), format: "jsonc", settings: [chosen] },
      ],
      remarks: [`In editors, choose the model "${ENTRY}" in Continue's list.`],
    };
  },
  environment: () => null,
};
