import { join } from "node:path";
import type { HostInfo } from "../../core/host-info.ts";
import { configHome } from "../recipe/directories.ts";
import { inferModelApi, PROVIDERS } from "../recipe/model-api.ts";
import { PURPOSE } from "../recipe/purposes.ts";
import type { Setting } from "../setting.ts";
import type { ConnectableTool, LocalEndpoint } from "../tool.ts";
import { EDITOR_LIST } from "./editor-list.ts";

/** Its settings hold no keys. */
function keyRemark({ credential, isToken }: LocalEndpoint): string {
  const what = isToken
    ? "a local token, made with: tollkeeper token add zed"
    : `any text, such as ${credential}, where there is none yet`;
  return `Zed keeps keys in the system's keychain: enter ${what}, for Anthropic in its Agent settings.`;
}

const settingsFile = (host: HostInfo) => join(configHome(host), "zed", "settings.json");

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
  processSignatures: [
    { names: ["zed", "zed-editor"], ...EDITOR_LIST },
    { names: ["zeditor", "zedit"], source: "https://zed.dev/docs/linux", date: "2026-11-22" },
  ],
  configFiles: (host) => [settingsFile(host)],
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
    return {
      files: [{ path: settingsFile(host), format: "jsonc", settings }],
      remarks: [keyRemark(endpoint), others],
    };
  },
  environment: () => null,
};
