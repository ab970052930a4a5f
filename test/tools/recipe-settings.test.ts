import assert from "node:assert/strict";
import { test } from "node:test";
import type { Destination } from "../../src/tools/recipe.ts";
import { SDK_RECIPE } from "../../src/tools/all.ts";
import { destination, filesOf, objectIn, ON, plansOf, recipeOf, TOKEN } from "./recipe-support.ts";

test("claude code: facts/clients.md section 4, for all of the user's work or for one project, not to be committed", () => {
  const env = {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code",
    ANTHROPIC_AUTH_TOKEN: "tk-claude-code",
    ENABLE_TOOL_SEARCH: "true",
  };
  assert.deepEqual(objectIn("claude-code", "~/.claude/settings.json", { model: null }), { env });
  const [, project] = plansOf(recipeOf("claude-code"));
  assert.deepEqual(
    project?.files.map(({ path }) => path),
    ["/home/ada/project/.claude/settings.local.json"],
  );
  assert.deepEqual(recipeOf("claude-code").environment(ON, destination("claude-code")), {
    variables: { ...env, ANTHROPIC_MODEL: "claude-sonnet-5" },
    flags: [],
  });
});

function codexLines(more: Partial<Destination>): string[] {
  return (filesOf("codex", more)["~/.codex/config.toml"] ?? "").trim().split("\n");
}

test("codex: facts/clients.md section 4, without a credential unless a token is asked for, and without websockets", () => {
  const provider = [
    "[model_providers.tollkeeper]",
    'name = "tollkeeper"',
    'base_url = "http://127.0.0.1:8655/t/codex/v1"',
    'wire_api = "responses"',
    "supports_websockets = false",
  ];
  assert.deepEqual(codexLines({ model: null }), ['model_provider = "tollkeeper"', "", ...provider]);
  const token = `experimental_bearer_token = "${TOKEN}"`;
  assert.ok(codexLines({ credential: TOKEN, isToken: true }).includes(token));
  const { flags } = recipeOf("codex").environment(ON, destination("codex", { model: "gpt-5.5" })) ?? {};
  const table = provider.slice(1).map((line) => line.replace(" = ", "="));
  assert.deepEqual(flags, [
    "-c",
    'model_provider="tollkeeper"',
    "-c",
    `model_providers.tollkeeper={${table.join(",")}}`,
    "-c",
    'model="gpt-5.5"',
  ]);
});

for (const [tool, path, variable] of [
  ["opencode", "~/.config/opencode/opencode.json", "OPENCODE_CONFIG_CONTENT"],
  ["kilo", "~/.config/kilo/kilo.json", "KILO_CONFIG_CONTENT"],
] as const) {
  test(`${tool}: facts/clients.md section 4, both of its providers, in its file and in its environment`, () => {
    const options = { baseURL: `http://127.0.0.1:8655/t/${tool}/v1`, apiKey: `tk-${tool}` };
    const content = { provider: { anthropic: { options }, openai: { options } } };
    assert.deepEqual(objectIn(tool, path, { model: null }), content);
    const chosen = { ...content, model: "openai/gpt-5.5" };
    assert.deepEqual(objectIn(tool, path, { model: "gpt-5.5" }), chosen);
    const environment = recipeOf(tool).environment(ON, destination(tool, { model: "gpt-5.5" }));
    assert.deepEqual(JSON.parse(environment?.variables[variable] ?? ""), chosen);
    const on = { ...ON, isThere: (file: string) => file.endsWith(`/${tool}.jsonc`) };
    assert.deepEqual(Object.keys(filesOf(tool, {}, on)), [`${path}c`]);
    const [, project] = plansOf(recipeOf(tool), {}, on);
    assert.equal(project?.files[0]?.path, `/home/ada/project/${tool}.jsonc`);
  });
}

test("qwen code: speaks Messages without a flag, to the address in its file rather than in its environment", () => {
  const id = "claude-sonnet-5";
  const envKey = "TOLLKEEPER_QWEN_CODE";
  const baseUrl = "http://127.0.0.1:8655/t/qwen-code";
  assert.deepEqual(objectIn("qwen-code", "~/.qwen/settings.json"), {
    security: { auth: { selectedType: "anthropic" } },
    env: { [envKey]: "tk-qwen-code" },
    modelProviders: { anthropic: [{ name: "tollkeeper", id, baseUrl, envKey }] },
    model: { name: id },
  });
  assert.deepEqual(recipeOf("qwen-code").environment(ON, destination("qwen-code")), {
    variables: { ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_API_KEY: "tk-qwen-code" },
    flags: ["--auth-type", "anthropic", "--model", id],
  });
});

test("cline: facts/clients.md section 4, with all that an entry must have, by the provider that speaks the model's API", () => {
  const path = "~/.cline/data/settings/providers.json";
  for (const [model, provider] of [
    ["claude-sonnet-5", "anthropic"],
    ["gpt-5.5", "openai-native"],
  ] as const) {
    const settings = { provider, apiKey: "tk-cline", baseUrl: "http://127.0.0.1:8655/t/cline/v1", model };
    const entry = { settings, updatedAt: "2026-11-22T00:00:00.000Z", tokenSource: "manual" };
    const expected = { version: 1, lastUsedProvider: provider, providers: { [provider]: entry } };
    assert.deepEqual(objectIn("cline", path, { model }), expected);
  }
});

test("continue: facts/clients.md section 4, and cn begins with that model", () => {
  assert.deepEqual(filesOf("continue"), {
    "~/.continue/config.yaml": [
      "name: Local Config",
      "version: 1.0.0",
      "schema: v1",
      "models:",
      "  - name: tollkeeper",
      "    provider: anthropic",
      "    model: claude-sonnet-5",
      "    apiBase: http://127.0.0.1:8655/t/continue/v1",
      "    apiKey: tk-continue\n",
    ].join("\n"),
    "~/.continue/index/globalContext.json": '{\n  "cliSelectedModel": "tollkeeper"\n}\n',
  });
});

function copilotVariables(more: Partial<Destination>) {
  return recipeOf("copilot").environment(ON, destination("copilot", more))?.variables;
}

test("copilot: facts/clients.md section 4, without a key unless a token is asked for", () => {
  assert.deepEqual(copilotVariables({}), {
    COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:8655/t/copilot",
    COPILOT_PROVIDER_TYPE: "anthropic",
    COPILOT_MODEL: "claude-sonnet-5",
  });
  assert.deepEqual(copilotVariables({ model: "gpt-5.5", isToken: true, credential: TOKEN }), {
    COPILOT_PROVIDER_API_KEY: TOKEN,
    COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:8655/t/copilot/v1",
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_WIRE_API: "responses",
    COPILOT_MODEL: "gpt-5.5",
  });
});

test("pi: facts/clients.md section 4; a model of one's own choice is in its other file", () => {
  const providers = {
    anthropic: { baseUrl: "http://127.0.0.1:8655/t/pi", apiKey: "tk-pi" },
    openai: { baseUrl: "http://127.0.0.1:8655/t/pi/v1", apiKey: "tk-pi" },
  };
  assert.deepEqual(Object.keys(filesOf("pi", { model: null })), ["~/.pi/agent/models.json"]);
  assert.deepEqual(objectIn("pi", "~/.pi/agent/models.json"), { providers });
  const chosen = { defaultProvider: "openai", defaultModel: "gpt-5.5" };
  assert.deepEqual(objectIn("pi", "~/.pi/agent/settings.json", { model: "gpt-5.5" }), chosen);
});

test("droid: facts/clients.md section 4, under an id of its own, with which sessions begin", () => {
  const entry = {
    displayName: "tollkeeper",
    id: "custom:tollkeeper",
    model: "gpt-5.5",
    baseUrl: "http://127.0.0.1:8655/t/droid/v1",
    apiKey: "tk-droid",
    provider: "openai",
    maxOutputTokens: 16_384,
  };
  assert.deepEqual(objectIn("droid", "~/.factory/settings.json", { model: "gpt-5.5" }), {
    customModels: [entry],
    sessionDefaultSettings: { model: entry.id },
  });
});

test("sdks: facts/clients.md section 4", () => {
  assert.deepEqual(SDK_RECIPE.environment(ON, destination("sdk"))?.variables, {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/sdk",
    ANTHROPIC_API_KEY: "tk-sdk",
    OPENAI_BASE_URL: "http://127.0.0.1:8655/t/sdk/v1",
    OPENAI_API_KEY: "tk-sdk",
  });
});
