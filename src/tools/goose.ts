import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { configHome } from "./directories.ts";
import { ADDRESS, MODEL, PROVIDER } from "./reasons.ts";

/** By Messages: its other way to talk to services is mostly chat completions. */
const PROVIDER_NAME = "anthropic";

/** Its configuration holds no keys, and those that stand there are ignored. */
function keyRemark({ credential, isToken }: Destination): string {
  const what = isToken
    ? "a local token, made with: tollkeeper token add goose"
    : `any text, such as ${credential}`;
  return `goose keeps keys in the system's keychain: run goose configure and enter ${what}, as Anthropic's key.`;
}

/** The same file serves goose's program and its desktop. */
export const goose: Recipe = {
  tool: "goose",
  title: "goose",
  source: "https://github.com/aaif-goose/goose/blob/main/documentation/docs/guides/config-files.md",
  date: "2026-11-22",
  tried: null,
  signs: { programs: ["goose"], files: [".config/goose"] },
  scopes: ["user"],
  modelOf: "messages",
  plan(on, to) {
    const settings: Setting[] = [
      { at: ["ANTHROPIC_HOST"], value: to.baseUrl, why: ADDRESS },
      { at: ["active_provider"], value: PROVIDER_NAME, why: PROVIDER },
      { at: ["providers", PROVIDER_NAME, "enabled"], value: true, why: PROVIDER },
    ];
    if (to.model !== null) {
      settings.push({ at: ["providers", PROVIDER_NAME, "model"], value: to.model, why: MODEL });
    }
    const path = join(configHome(on), "goose", "config.yaml");
    return { files: [{ path, format: "yaml", settings }], remarks: [keyRemark(to)] };
  },
  environment(_on, to) {
    const variables = {
      GOOSE_PROVIDER: PROVIDER_NAME,
      ANTHROPIC_HOST: to.baseUrl,
      ANTHROPIC_API_KEY: to.credential,
    };
    return { variables: to.model === null ? variables : { ...variables, GOOSE_MODEL: to.model }, flags: [] };
  },
};
