import { join } from "node:path";
import type { Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { apiOfModel } from "./api-of-model.ts";
import { directoryOf } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER, WANTED } from "./reasons.ts";

/** Its name for the OpenAI that speaks Responses; its plain `openai` speaks chat completions. */
const PROVIDERS = { messages: "anthropic", responses: "openai-native" } as const;

/** The rest of an entry, without which Cline throws the whole file away; it moves the time on whenever it runs. */
const REQUIRED = { updatedAt: "2026-11-22T00:00:00.000Z", tokenSource: "manual" };

/** Cline's program; its extension for editors keeps its settings elsewhere. */
export const cline: Recipe = {
  tool: "cline",
  title: "Cline",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "3.0.65",
  signs: { programs: ["cline"], files: [".cline"] },
  scopes: ["user"],
  modelOf: "messages",
  plan(on, to) {
    const name = PROVIDERS[apiOfModel(to.model ?? "")];
    const entry = ["providers", name];
    const settings: Setting[] = [
      { at: ["version"], value: 1, why: WANTED, isAnyFine: true },
      { at: ["lastUsedProvider"], value: name, why: PROVIDER },
      { at: [...entry, "settings", "provider"], value: name, why: PROVIDER },
      { at: [...entry, "settings", "apiKey"], value: to.credential, why: credentialReason(to) },
      { at: [...entry, "settings", "baseUrl"], value: `${to.baseUrl}/v1`, why: ADDRESS },
      ...Object.entries(REQUIRED).map(([field, value]) => {
        return { at: [...entry, field], value, why: WANTED, isAnyFine: true } as const;
      }),
    ];
    if (to.model !== null)
      settings.push({ at: [...entry, "settings", "model"], value: to.model, why: MODEL });
    const path = join(directoryOf(on, "CLINE_DATA_DIR", ".cline", "data"), "settings", "providers.json");
    return {
      files: [{ path, format: "jsonc", settings }],
      remarks: [
        "Cline's extension for VS Code has settings of its own: choose the provider and its base URL there.",
      ],
    };
  },
  environment: () => null,
};
