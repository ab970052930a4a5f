import type { Seeds } from "./seeds.ts";

/** A tool whose own settings send its requests to another service, which listens at `url`. */
export interface ConflictCase {
  tool: string;
  what: string;
  /** Files below the home; `%URL%` stands for the origin of the other service. */
  seeds: Seeds;
  /** The model to connect with; by default the first that fits. */
  model?: string;
  /** Arguments of the prompt, where they are not the tool's usual ones. */
  prompt?: readonly string[];
  /**
   * Who sends the requests elsewhere.
   * - `before`: these settings, before the tool is connected; connecting changes them
   * - `later`: these settings, written after the tool was connected; the command that `connect --list` names repairs it
   * - `told`: as `later`, and only the user can change them
   */
  kind: "before" | "later" | "told";
}

const OTHER_PROVIDER = `"other": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "%URL%/v1", "apiKey": "x" },
      "models": { "llama": {} }
    }`;

/** Settings of opencode and Kilo with another provider, and more. */
const withOther = (more: string) => `{
  "$schema": "https://opencode.ai/config.json",
  // the machine in the cellar
  "provider": {
    ${OTHER_PROVIDER}
  }${more}
}
`;

const PI_MODELS = `{
  "providers": {
    "other": {
      "baseUrl": "%URL%/v1",
      "api": "openai-completions",
      "apiKey": "x",
      "models": [{ "id": "llama" }]
    }
  }
}
`;

const DROID_MODEL = `{
      "model": "llama",
      "id": "custom:mine",
      "displayName": "Mine",
      "baseUrl": "%URL%/v1",
      "apiKey": "not-a-key",
      "provider": "openai",
      "maxOutputTokens": 8192
    }`;

const CLINE_OTHER = `{
  "version": 1,
  "lastUsedProvider": "openai-compatible",
  "modes": {},
  "providers": {
    "openai-compatible": {
      "settings": { "provider": "openai-compatible", "apiKey": "x", "baseUrl": "%URL%/v1", "model": "llama" },
      "updatedAt": "2026-11-01T10:00:00.000Z",
      "tokenSource": "manual"
    }
  }
}
`;

export const CONFLICT_CASES: readonly ConflictCase[] = [
  {
    tool: "claude-code",
    what: "a cloud switch in its settings",
    kind: "before",
    seeds: { ".claude/settings.json": '{\n\t"env": {\n\t\t"CLAUDE_CODE_USE_BEDROCK": "1"\n\t}\n}\n' },
  },
  {
    tool: "claude-code",
    what: "a base URL in the project's settings",
    kind: "later",
    seeds: { "work/.claude/settings.json": '{ "env": { "ANTHROPIC_BASE_URL": "%URL%" } }\n' },
  },
  {
    tool: "codex",
    what: "a profile in a file of its own",
    kind: "told",
    prompt: ["exec", "--profile", "cellar", "--skip-git-repo-check", "hello"],
    seeds: {
      ".codex/cellar.config.toml": `model_provider = "cellar"

[model_providers.cellar]
name = "Cellar"
base_url = "%URL%/v1"
wire_api = "responses"
`,
    },
  },
  {
    tool: "opencode",
    what: "enabled_providers, and another provider's model",
    kind: "before",
    seeds: {
      ".config/opencode/opencode.json": withOther(
        ',\n  "enabled_providers": ["other"], // only that one\n  "model": "other/llama"',
      ),
    },
  },
  {
    tool: "opencode",
    what: "disabled_providers, and no model",
    kind: "before",
    seeds: {
      ".config/opencode/opencode.json": withOther(
        ',\n  "disabled_providers": ["anthropic", "openai", "xai"]',
      ),
    },
  },
  {
    tool: "opencode",
    what: "the model used last",
    kind: "later",
    seeds: {
      ".config/opencode/opencode.jsonc": withOther(""),
      ".local/state/opencode/model.json": '{"recent":[{"providerID":"other","modelID":"llama"}]}',
    },
  },
  {
    tool: "kilo",
    what: "another provider's model, in the file of opencode beside its own",
    kind: "before",
    seeds: {
      ".config/kilo/opencode.json": withOther(',\n  "model": "other/llama"'),
      // As Kilo writes them at its first run.
      ".config/kilo/kilo.json": '{\n  "$schema": "https://app.kilo.ai/config.json"\n}\n',
      ".config/kilo/.bash-permission-migrated": "",
    },
  },
  {
    tool: "qwen-code",
    what: "an entry for the same model",
    kind: "before",
    model: "claude-sonnet-4-6",
    seeds: {
      ".qwen/settings.json": `{
  "modelProviders": {
    "anthropic": [
      { "id": "claude-sonnet-4-6", "name": "Work", "baseUrl": "%URL%", "envKey": "WORK" } // at work
    ]
  },
  "security": { "auth": { "selectedType": "anthropic" } },
  "model": { "name": "claude-sonnet-4-6" },
  "env": {
    "WORK": "x"
  },
  "$version": 4
}
`,
    },
  },
  {
    tool: "cline",
    what: "another provider chosen",
    kind: "later",
    seeds: { ".cline/data/settings/providers.json": CLINE_OTHER },
  },
  {
    tool: "continue",
    what: "another model chosen",
    kind: "later",
    seeds: {
      ".continue/config.yaml": `name: Mine
version: 1.0.0
schema: v1
models:
  - name: Cellar
    provider: openai
    model: llama
    apiBase: %URL%/v1
    apiKey: x
`,
      ".continue/index/globalContext.json": '{"cliSelectedModel":"Cellar"}',
    },
  },
  {
    tool: "copilot",
    what: "another base URL behind ours",
    kind: "told",
    seeds: { ".bashrc": "export COPILOT_PROVIDER_BASE_URL=%URL%\n" },
  },
  {
    tool: "pi",
    what: "another default provider",
    kind: "before",
    model: "claude-sonnet-4-6",
    seeds: {
      ".pi/agent/models.json": PI_MODELS,
      ".pi/agent/settings.json": '{ "defaultProvider": "other", "defaultModel": "llama" }\n',
    },
  },
  {
    tool: "pi",
    what: "models of other providers only",
    kind: "before",
    model: "claude-sonnet-4-6",
    seeds: {
      ".pi/agent/models.json": PI_MODELS,
      ".pi/agent/settings.json": '{ "enabledModels": ["other/llama"] }\n',
    },
  },
  {
    tool: "droid",
    what: "another default model, in its local settings",
    kind: "before",
    seeds: {
      ".factory/settings.local.json": `{
  "customModels": [
    ${DROID_MODEL} // in the cellar
  ],
  "sessionDefaultSettings": { "model": "custom:mine" }
}
`,
    },
  },
];
