import { join } from "node:path";
import { configHome } from "../recipe/directories.ts";
import { inferModelApi, PROVIDERS, PURPOSE } from "../recipe/settings.ts";
import type { Setting } from "../setting.ts";
import type { ConnectableTool, LocalEndpoint } from "../tool.ts";
import { EDITOR_LIST } from "./editor.ts";

/** Its settings cannot hold keys. */
function keyRemark({ credential, isToken }: LocalEndpoint): string {
  const what = isToken
    ? "a local token, made with: tollkeeper token add zed"
    : `any text, such as ${credential}, where there is none yet`;
  return `Zed keeps keys in the system's keychain: enter ${what}, for Anthropic in its Agent settings.`;
}

/** Zed's own agent and inline assistant. Claude Code, Codex and others that run in Zed have recipes of their own. */
export const zed: ConnectableTool = {
  name: "zed",
  title: "Zed",
  source: "https://zed.dev/docs/ai/use-api-access",
  date: "2026-11-22",
  tried: null,
  programs: ["zed", "zeditor"],
  homePaths: [".local/share/zed", "Library/Application Support/Zed"],
  isEditor: true,
  recorded: EDITOR_LIST,
  processSignatures: [
    { names: ["zed", "zed-editor"] },
    { names: ["zeditor", "zedit"], source: "https://zed.dev/docs/linux" },
  ],
  configFiles: (host) => [join(configHome(host), "zed", "settings.json")],
  scopes: ["user"],
  modelApi: null,
  plan(host, endpoint) {
    const { baseUrl, model } = endpoint;
    const provider = PROVIDERS.messages;
    const settings: Setting[] = [
      { keyPath: ["language_models", provider, "api_url"], value: baseUrl, purpose: PURPOSE.baseUrl },
    ];
    if (model !== null && inferModelApi(model) === "messages") {
      settings.push(
        { keyPath: ["agent", "default_model", "provider"], value: provider, purpose: PURPOSE.provider },
        { keyPath: ["agent", "default_model", "model"], value: model, purpose: PURPOSE.model },
      );
    }
    // https://github.com/zed-industries/zed, crates/open_ai: all but a few models.
    const others = "Only Claude's models come here: most of OpenAI's Zed asks by chat completions.";
    const path = join(configHome(host), "zed", "settings.json");
    return { files: [{ path, format: "jsonc", settings }], remarks: [keyRemark(endpoint), others] };
  },
  environment: () => null,
};
