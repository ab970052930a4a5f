import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { apiOfModel } from "./api-of-model.ts";
import { ADDRESS, credentialReason, MODEL } from "./reasons.ts";

/** It asks exactly this address, and adds nothing. */
const ROUTES = { messages: "/v1/messages", responses: "/v1/responses" };

const API_TYPES = { messages: "Anthropic", responses: "OpenAIResponses" };

function settingsFor(to: Destination): Setting[] {
  if (to.model === null) return [];
  const api = apiOfModel(to.model);
  return [
    { at: ["id"], value: to.model, why: MODEL },
    { at: ["baseUrl"], value: to.baseUrl + ROUTES[api], why: ADDRESS },
    { at: ["apiType"], value: API_TYPES[api], why: "the API that it speaks" },
    { at: ["apiKey"], value: to.credential, why: credentialReason(to) },
  ];
}

/** JetBrains' Junie in the terminal: a model profile, which is a file of its own. */
export const junie: Recipe = {
  tool: "junie",
  title: "Junie CLI",
  source: "https://junie.jetbrains.com/docs/custom-llm-models.html",
  date: "2026-11-22",
  tried: null,
  signs: { programs: ["junie"], files: [".junie"] },
  scopes: ["user", "project"],
  modelOf: "messages",
  plan(on, to, scope) {
    const path = join(scope === "user" ? on.home : on.directory, ".junie", "models", "tollkeeper.json");
    return {
      files: [{ path, format: "jsonc", settings: settingsFor(to) }],
      remarks: ['Choose the model "tollkeeper" in Junie: its profile is only offered by this.'],
    };
  },
  environment: () => null,
};
