import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { apiOfModel, PROVIDERS } from "./api-of-model.ts";
import { configHome } from "./directories.ts";
import { ADDRESS, MODEL, PROVIDER } from "./reasons.ts";

/** Its settings hold no keys. */
function keyRemark({ credential, isToken }: Destination): string {
  const what = isToken
    ? "a local token, made with: tollkeeper token add zed"
    : `any text, such as ${credential}, where there is none yet`;
  return `Zed keeps keys in the system's keychain: enter ${what}, for Anthropic in its Agent settings.`;
}

/** Zed's own agent and its inline assistant; Claude Code, Codex and others that run in it have recipes of their own. */
export const zed: Recipe = {
  tool: "zed",
  title: "Zed",
  source: "https://zed.dev/docs/ai/use-api-access",
  date: "2026-11-22",
  tried: null,
  signs: { programs: ["zed", "zeditor"], files: [".local/share/zed", "Library/Application Support/Zed"] },
  scopes: ["user"],
  modelOf: null,
  plan(on, to) {
    const provider = PROVIDERS.messages;
    const settings: Setting[] = [
      { at: ["language_models", provider, "api_url"], value: to.baseUrl, why: ADDRESS },
    ];
    if (to.model !== null && apiOfModel(to.model) === "messages") {
      settings.push(
        { at: ["agent", "default_model", "provider"], value: provider, why: PROVIDER },
        { at: ["agent", "default_model", "model"], value: to.model, why: MODEL },
      );
    }
    const path = join(configHome(on), "zed", "settings.json");
    // github.com/zed-industries/zed, crates/open_ai: all but a few models.
    const others = "Only Claude's models come here: most of OpenAI's Zed asks by chat completions.";
    return { files: [{ path, format: "jsonc", settings }], remarks: [keyRemark(to), others] };
  },
  environment: () => null,
};
