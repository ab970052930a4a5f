import { join } from "node:path";
import { PRESENT } from "../core/identity/signatures.ts";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { credentialPurpose, inferModelApi, PROVIDERS, PURPOSE } from "./recipe/settings.ts";
import type { FileSettings, Setting } from "./setting.ts";
import type { ConnectableTool } from "./tool.ts";

const configDirectory = directoryOf("PI_CODING_AGENT_DIR", ".pi", "agent");

/** The recipe redirects the built-in providers, so that their model lists stay available. */
export const pi: ConnectableTool = {
  name: "pi",
  title: "Pi",
  source: "https://pi.dev/docs/latest/models",
  date: "2026-11-22",
  tried: "0.74.2",
  programs: ["pi"],
  homePaths: [".pi/agent"],
  recorded: { source: "npm package @earendil-works/pi-coding-agent 0.74.2", date: "2026-11-21" },
  requestSignatures: [
    { when: { session_id: PRESENT, "user-agent": /^OpenAI\/JS / }, isWeak: true },
    // LangChain also turns on the Anthropic SDK's browser mode, but asks for no beta. Pi does for older models only.
    {
      when: {
        "user-agent": /^Anthropic\/JS /,
        "anthropic-dangerous-direct-browser-access": PRESENT,
        "anthropic-beta": /interleaved-thinking/,
      },
      isWeak: true,
    },
  ],
  processSignatures: [
    // It also takes this name as the title of its process, in place of the arguments.
    { names: ["pi"] },
    { path: /\/pi-coding-agent\// },
  ],
  configFiles: (host) => filesIn(configDirectory(host), "models.json", "auth.json", "settings.json"),
  scopes: ["user"],
  modelApi: null,
  plan(host, endpoint) {
    const { baseUrl, credential, model } = endpoint;
    const baseUrls = { messages: baseUrl, responses: `${baseUrl}/v1` };
    const providers = (["messages", "responses"] as const).flatMap((api): Setting[] => {
      const provider = ["providers", PROVIDERS[api]];
      return [
        { keyPath: [...provider, "baseUrl"], value: baseUrls[api], purpose: PURPOSE.baseUrl },
        { keyPath: [...provider, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
      ];
    });
    const directory = configDirectory(host);
    const models: FileSettings = {
      path: join(directory, "models.json"),
      format: "jsonc",
      settings: providers,
    };
    if (model === null) return { files: [models], remarks: [] };
    const choice: Setting[] = [
      { keyPath: ["defaultProvider"], value: PROVIDERS[inferModelApi(model)], purpose: PURPOSE.provider },
      { keyPath: ["defaultModel"], value: model, purpose: PURPOSE.model },
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
