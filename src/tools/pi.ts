import { join } from "node:path";
import type { Recipe } from "./recipe.ts";
import type { FileSettings, Setting } from "./setting.ts";
import { apiOfModel, PROVIDERS } from "./api-of-model.ts";
import { directoryOf } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER } from "./reasons.ts";

/** The built-in providers are led here, so that their models and what is known of them stay. */
export const pi: Recipe = {
  tool: "pi",
  title: "Pi",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "0.74.2",
  signs: { programs: ["pi"], files: [".pi/agent"] },
  scopes: ["user"],
  modelOf: null,
  plan(on, to) {
    const directory = directoryOf(on, "PI_CODING_AGENT_DIR", ".pi", "agent");
    const addresses = { messages: to.baseUrl, responses: `${to.baseUrl}/v1` };
    const providers = (["messages", "responses"] as const).flatMap((api): Setting[] => [
      { at: ["providers", PROVIDERS[api], "baseUrl"], value: addresses[api], why: ADDRESS },
      { at: ["providers", PROVIDERS[api], "apiKey"], value: to.credential, why: credentialReason(to) },
    ]);
    const models: FileSettings = {
      path: join(directory, "models.json"),
      format: "jsonc",
      settings: providers,
    };
    if (to.model === null) return { files: [models], remarks: [] };
    const choice: Setting[] = [
      { at: ["defaultProvider"], value: PROVIDERS[apiOfModel(to.model)], why: PROVIDER },
      { at: ["defaultModel"], value: to.model, why: MODEL },
    ];
    return {
      files: [models, { path: join(directory, "settings.json"), format: "jsonc", settings: choice }],
      remarks: [
        "Pi passes over a default model that it does not know: see those that it does with pi --list-models.",
      ],
    };
  },
  environment: () => null,
};
