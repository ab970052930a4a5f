import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conflictsOf,
  environmentOf,
  findTool,
  firstFile,
  HOST,
  plansFor,
  toolOfProcess,
  toolOfRequest,
  writtenFiles,
  writtenObject,
} from "./tool-support.ts";

const PATH = "~/.config/opencode/opencode.json";

const options = { baseURL: "http://127.0.0.1:8655/t/opencode/v1", apiKey: "tk-opencode" };
const CONTENT = { provider: { anthropic: { options }, openai: { options } } };
const WITH_MODEL = { ...CONTENT, model: "openai/gpt-5.5" };

test("opencode is connected by the options of both of its built-in providers", () => {
  assert.deepEqual(writtenObject("opencode", PATH, { model: null }), CONTENT);
  const openai = { options, models: { "gpt-5.5": {} } };
  assert.deepEqual(writtenObject("opencode", PATH, { model: "gpt-5.5" }), {
    ...WITH_MODEL,
    provider: { ...CONTENT.provider, openai },
  });
});

test("opencode is connected for models of Chat Completions by a provider of ours, which asks for usage", () => {
  const model = "meta-llama/llama-4-scout";
  const tollkeeper = {
    npm: "@ai-sdk/openai-compatible",
    options: { ...options, includeUsage: true },
    models: { [model]: {} },
  };
  const expected = { provider: { ...CONTENT.provider, tollkeeper }, model: `tollkeeper/${model}` };
  assert.deepEqual(writtenObject("opencode", PATH, { model }), expected);
  const environment = environmentOf("opencode", { model });
  assert.deepEqual(JSON.parse(environment?.variables["OPENCODE_CONFIG_CONTENT"] ?? ""), expected);
  assert.deepEqual(
    conflictsOf("opencode", { [PATH]: { ...expected, enabled_providers: ["tollkeeper"] } }),
    {},
  );
});

test("opencode is run with the same settings in a variable", () => {
  const environment = environmentOf("opencode", { model: "gpt-5.5" });
  assert.deepEqual(JSON.parse(environment?.variables["OPENCODE_CONFIG_CONTENT"] ?? ""), WITH_MODEL);
});

test("opencode's settings go into the .jsonc file where one exists, for the user and for a project", () => {
  const host = { ...HOST, exists: (path: string) => path.endsWith("/opencode.jsonc") };
  assert.deepEqual(Object.keys(writtenFiles("opencode", {}, host)), [`${PATH}c`]);
  const [, project] = plansFor(findTool("opencode"), {}, host);
  assert.equal(project?.files[0]?.path, "/home/ada/project/opencode.jsonc");
});

test("opencode's settings are below XDG_CONFIG_HOME", () => {
  assert.equal(firstFile("opencode", { XDG_CONFIG_HOME: "/etc/c" }), "/etc/c/opencode/opencode.json");
});

test("opencode is recognized by its User-Agent", () => {
  assert.equal(toolOfRequest({ "user-agent": "opencode/1.18.33 ai-sdk/x" }), "opencode by signature");
});

test("/x/node_modules/opencode-ai/bin/opencode.exe is a process of opencode", () => {
  assert.equal(toolOfProcess("/x/node_modules/opencode-ai/bin/opencode.exe"), "opencode");
});

const DIRECTORY = "~/.config/opencode";

test("opencode's requests go elsewhere where neither of the providers that point at tollkeeper is enabled", () => {
  const reason = "it leaves out anthropic and openai, which point at tollkeeper";
  assert.deepEqual(conflictsOf("opencode", { [PATH]: { enabled_providers: ["openrouter"] } }), {
    [`${PATH} (enabled_providers): ${reason}`]: { enabled_providers: ["openrouter", "anthropic", "openai"] },
  });
  assert.deepEqual(conflictsOf("opencode", { [PATH]: { enabled_providers: ["openai"] } }), {});
  const disabled_providers = ["openai", "xai", "anthropic"];
  assert.deepEqual(conflictsOf("opencode", { [PATH]: { disabled_providers } }), {
    [`${PATH} (disabled_providers): ${reason}`]: { disabled_providers: ["xai"] },
  });
  assert.deepEqual(conflictsOf("opencode", { [PATH]: { disabled_providers: ["openai"] } }), {});
});

test("opencode's requests go elsewhere by every choice of another provider's model", () => {
  const model = "openrouter/some/model";
  const settings = {
    model,
    small_model: "openai/gpt-5-mini",
    agent: { build: { model }, plan: { model: "anthropic/claude-opus-5" } },
    command: { review: { model } },
  };
  const reason = "it chooses a model of openrouter";
  assert.deepEqual(conflictsOf("opencode", { [PATH]: settings }), {
    [`${PATH} (model): ${reason}`]: "needs a model",
    [`${PATH} (agent.build.model): ${reason}`]: "needs a model",
    [`${PATH} (command.review.model): ${reason}`]: "needs a model",
  });
  const chosen = "anthropic/claude-sonnet-5";
  assert.deepEqual(conflictsOf("opencode", { [PATH]: settings }, { model: "claude-sonnet-5" }), {
    [`${PATH} (model): ${reason}`]: { model: chosen },
    [`${PATH} (agent.build.model): ${reason}`]: { "agent.build.model": chosen },
    [`${PATH} (command.review.model): ${reason}`]: { "command.review.model": chosen },
  });
});

test("opencode without a model chooses the one used last, else the first provider of its settings that is enabled", () => {
  const other = { provider: { ollama: {}, anthropic: {} } };
  assert.deepEqual(conflictsOf("opencode", { [PATH]: other }), {
    [`${PATH} (provider.ollama): it chooses a model of ollama`]: "needs a model",
  });
  assert.deepEqual(conflictsOf("opencode", { [PATH]: { provider: { anthropic: {}, ollama: {} } } }), {});
  assert.deepEqual(conflictsOf("opencode", { [PATH]: { ...other, disabled_providers: ["ollama"] } }), {});
  const memory = "~/.local/state/opencode/model.json";
  const recent = { recent: [{ providerID: "opencode", modelID: "big-pickle" }] };
  const reason = "(recent.0.providerID): it chooses a model of opencode";
  assert.deepEqual(conflictsOf("opencode", { [memory]: recent }), {
    [`${memory} ${reason}`]: "needs a model",
  });
  assert.deepEqual(
    conflictsOf("opencode", { [memory]: recent, [PATH]: { model: "anthropic/claude-opus-5" } }),
    {},
  );
});

test("opencode's settings override each other: the user's, OPENCODE_CONFIG's, the project's, a variable's, the administrator's", () => {
  const OTHER = { model: "openrouter/x" };
  const HERE = { model: "anthropic/claude-opus-5" };
  const env = { OPENCODE_CONFIG: "/home/ada/opencode-work.json" };
  const paths = [
    `${DIRECTORY}/config.json`,
    PATH,
    `${PATH}c`,
    "~/opencode-work.json",
    "./opencode.json",
    "./.opencode/opencode.jsonc",
    "/etc/opencode/opencode.json",
  ];
  for (const [index, path] of paths.entries()) {
    const weaker = Object.fromEntries(paths.slice(0, index).map((one) => [one, HERE]));
    assert.deepEqual(conflictsOf("opencode", { ...weaker, [path]: OTHER }, { env }), {
      [`${path} (model): it chooses a model of openrouter`]: "needs a model",
    });
    const stronger = Object.fromEntries(paths.slice(index + 1).map((one) => [one, HERE]));
    const expected = index + 1 < paths.length ? 0 : 1;
    const found = conflictsOf("opencode", { [path]: OTHER, ...stronger }, { env });
    assert.equal(Object.keys(found).length, expected, path);
  }
  const inline = { OPENCODE_CONFIG_CONTENT: JSON.stringify(OTHER) };
  assert.deepEqual(conflictsOf("opencode", { "./opencode.json": HERE }, { env: inline }), {
    "env (model): it chooses a model of openrouter": "needs a model",
  });
});

test("opencode's requests go elsewhere by another base URL in the project, and by a ChatGPT login for models of openai", () => {
  assert.deepEqual(
    conflictsOf("opencode", {
      "./opencode.json": {
        provider: { anthropic: { options: { baseURL: "https://models.work.example/v1" } } },
      },
    }),
    {
      "./opencode.json (provider.anthropic.options.baseURL): it is another base URL": {},
    },
  );
  const login = { "~/.local/share/opencode/auth.json": { openai: { type: "oauth" } } };
  assert.deepEqual(conflictsOf("opencode", { ...login, [PATH]: { model: "openai/gpt-5.5" } }), {
    "~/.local/share/opencode/auth.json (openai.type): with this login, requests for openai models go to chatgpt.com":
      {},
  });
  assert.deepEqual(conflictsOf("opencode", { ...login, [PATH]: { model: "anthropic/claude-opus-5" } }), {});
});
