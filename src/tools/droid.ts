import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { apiOfModel, PROVIDERS } from "./api-of-model.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER } from "./reasons.ts";

/** Names our entry among its models, and finds it again. */
const ENTRY = "tollkeeper";

/** By which it is chosen; without one of its own that would depend on its place in the list. */
const ENTRY_ID = "custom:tollkeeper";

/** What every current model of both makers can give. */
const MAX_OUTPUT_TOKENS = 16_384;

function settingsFor(to: Destination): Setting[] {
  if (to.model === null) return [];
  const entry = ["customModels", { where: { displayName: ENTRY } }];
  const api = apiOfModel(to.model);
  return [
    { at: [...entry, "id"], value: ENTRY_ID, why: "the name by which it is chosen" },
    { at: [...entry, "model"], value: to.model, why: MODEL },
    { at: [...entry, "baseUrl"], value: api === "messages" ? to.baseUrl : `${to.baseUrl}/v1`, why: ADDRESS },
    { at: [...entry, "apiKey"], value: to.credential, why: credentialReason(to) },
    { at: [...entry, "provider"], value: PROVIDERS[api], why: PROVIDER },
    { at: [...entry, "maxOutputTokens"], value: MAX_OUTPUT_TOKENS, why: "how long an answer may get" },
    { at: ["sessionDefaultSettings", "model"], value: ENTRY_ID, why: "sessions begin with it" },
  ];
}

/** Factory's Droid: a model of one's own, which needs no login there. */
export const droid: Recipe = {
  tool: "droid",
  title: "Factory Droid",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "0.225.2",
  signs: { programs: ["droid"], files: [".factory"] },
  scopes: ["user", "project"],
  modelOf: "messages",
  plan(on, to, scope) {
    const path =
      scope === "user"
        ? join(on.home, ".factory", "settings.json")
        : join(on.directory, ".factory", "settings.local.json");
    return { files: [{ path, format: "jsonc", settings: settingsFor(to) }], remarks: [] };
  },
  environment: () => null,
};
