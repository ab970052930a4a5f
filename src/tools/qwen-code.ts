import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { directoryOf } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER } from "./reasons.ts";

/** Names our entry among its models, and finds it again. */
const ENTRY = "tollkeeper";

/** Its settings name the variable that holds a key, and never hold the key. */
const KEY_VARIABLE = "TOLLKEEPER_QWEN_CODE";

/** By Messages only: what it sends as OpenAI's are chat completions, which tollkeeper does not serve by itself. */
const AUTH_TYPE = "anthropic";

/** An entry of its models, because its variables for the same lose to the shell's. */
function settingsFor(to: Destination): Setting[] {
  const entry = ["modelProviders", AUTH_TYPE, { where: { name: ENTRY } }];
  const settings: Setting[] = [
    { at: ["security", "auth", "selectedType"], value: AUTH_TYPE, why: PROVIDER },
    { at: ["env", KEY_VARIABLE], value: to.credential, why: credentialReason(to) },
  ];
  if (to.model === null) return settings;
  return [
    ...settings,
    { at: [...entry, "id"], value: to.model, why: MODEL },
    { at: [...entry, "baseUrl"], value: to.baseUrl, why: ADDRESS },
    { at: [...entry, "envKey"], value: KEY_VARIABLE, why: "where it finds what goes in the key's place" },
    { at: ["model", "name"], value: to.model, why: MODEL },
  ];
}

/** https://qwenlm.github.io/qwen-code-docs/en/users/configuration/model-providers tells of the entries. */
export const qwenCode: Recipe = {
  tool: "qwen-code",
  title: "Qwen Code",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "0.24.4",
  signs: { programs: ["qwen"], files: [".qwen"] },
  scopes: ["user", "project"],
  modelOf: "messages",
  plan(on, to, scope) {
    const directory = scope === "user" ? directoryOf(on, "QWEN_HOME", ".qwen") : join(on.directory, ".qwen");
    return {
      files: [{ path: join(directory, "settings.json"), format: "jsonc", settings: settingsFor(to) }],
      remarks: [],
    };
  },
  environment(_on, to) {
    const flags = ["--auth-type", AUTH_TYPE];
    return {
      variables: { ANTHROPIC_BASE_URL: to.baseUrl, ANTHROPIC_API_KEY: to.credential },
      flags: to.model === null ? flags : [...flags, "--model", to.model],
    };
  },
};
