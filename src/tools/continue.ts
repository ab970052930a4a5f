import { join } from "node:path";
import type { HostInfo } from "../core/host-info.ts";
import { directoryOf, filesIn } from "./recipe/directories.ts";
import { inferModelApi, PROVIDERS } from "./recipe/model-api.ts";
import { credentialPurpose, PURPOSE } from "./recipe/purposes.ts";
import type { Setting } from "./setting.ts";
import type { ConnectableTool, LocalEndpoint } from "./tool.ts";

const PACKAGE = { source: "npm package @continuedev/cli 1.5.47", date: "2026-11-21" };

/** Names the entry in its list of models. */
const ENTRY = "tollkeeper";

const REQUIRED_FIELDS = { name: "Local Config", version: "1.0.0", schema: "v1" };

const configDirectory = (host: HostInfo) => directoryOf(host, "CONTINUE_GLOBAL_DIR", ".continue");

/** For the names of OpenAI's newer models, its provider `openai` speaks Responses. */
function settingsFor(endpoint: LocalEndpoint): Setting[] {
  const { baseUrl, credential, model } = endpoint;
  const entry = ["models", { where: { name: ENTRY } }];
  const required = Object.entries(REQUIRED_FIELDS).map(
    ([name, value]) =>
      ({ keyPath: [name], value, purpose: PURPOSE.required, acceptsAnyValue: true }) as const,
  );
  if (model === null) return required;
  return [
    ...required,
    { keyPath: [...entry, "provider"], value: PROVIDERS[inferModelApi(model)], purpose: PURPOSE.provider },
    { keyPath: [...entry, "model"], value: model, purpose: PURPOSE.model },
    { keyPath: [...entry, "apiBase"], value: `${baseUrl}/v1`, purpose: PURPOSE.baseUrl },
    { keyPath: [...entry, "apiKey"], value: credential, purpose: credentialPurpose(endpoint) },
  ];
}

/** Continue's program and its extensions for editors, which share a file. */
export const continueDev: ConnectableTool = {
  name: "continue",
  title: "Continue",
  source: "https://docs.continue.dev/reference",
  date: "2026-11-22",
  tried: "1.5.47",
  programs: ["cn"],
  homePaths: [".continue"],
  requestSignatures: [{ when: { "user-agent": /^(?:ls\/JS |node-fetch$)/ }, isWeak: true, ...PACKAGE }],
  processSignatures: [
    { names: ["cn"], ...PACKAGE, date: "2026-11-22" },
    { path: /\/@continuedev\/cli\//, ...PACKAGE, date: "2026-11-22" },
  ],
  configFiles: (host) => filesIn(configDirectory(host), "config.yaml", "config.json", ".env"),
  scopes: ["user"],
  modelApi: "messages",
  plan(host, endpoint) {
    const directory = configDirectory(host);
    // Without it, cn starts with the first model of its list.
    const selected: Setting = {
      keyPath: ["cliSelectedModel"],
      value: ENTRY,
      purpose: "the model that cn begins with",
    };
    return {
      files: [
        { path: join(directory, "config.yaml"), format: "yaml", settings: settingsFor(endpoint) },
        { path: join(directory, "index", "globalContext.json"), format: "jsonc", settings: [selected] },
      ],
      remarks: [`In editors, choose the model "${ENTRY}" in Continue's list.`],
    };
  },
  environment: () => null,
};
