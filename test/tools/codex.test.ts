import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_REACH, type ToolReach } from "../../src/core/policy/tool-reach.ts";
import type { LocalEndpoint } from "../../src/tools/tool.ts";
import {
  conflictsOf,
  environmentOf,
  firstFile,
  TOKEN,
  toolOfProcess,
  toolOfRequest,
  writtenFiles,
} from "./tool-support.ts";

const PROVIDER = [
  "[model_providers.tollkeeper]",
  'name = "tollkeeper"',
  'base_url = "http://127.0.0.1:8655/t/codex/v1"',
  'wire_api = "responses"',
  "supports_websockets = false",
];

function codexLines(changes: Partial<LocalEndpoint>): string[] {
  return (writtenFiles("codex", changes)["~/.codex/config.toml"] ?? "").trim().split("\n");
}

test("Codex is connected by a provider of its own, without a credential, and before another service without what only OpenAI has", () => {
  assert.deepEqual(codexLines({ model: null }), ['model_provider = "tollkeeper"', "", ...PROVIDER]);
});

function fields(reach: Partial<ToolReach>): string[] {
  return codexLines({ reach: { ...NO_REACH, ...reach } }).filter((line) => /^(?:name|supports_)/.test(line));
}

test("Codex keeps what it offers with OpenAI by OpenAI's name, and uses a WebSocket where the upstream may speak it", () => {
  assert.deepEqual(fields({ isOpenai: true }), ['name = "OpenAI"', "supports_websockets = false"]);
  assert.deepEqual(fields({ isOpenai: true, hasWebSocket: true }), [
    'name = "OpenAI"',
    "supports_websockets = true",
  ]);
  assert.deepEqual(fields({ hasWebSocket: true }), ['name = "tollkeeper"', "supports_websockets = true"]);
  assert.deepEqual(fields({ isAnthropic: true }), ['name = "tollkeeper"', "supports_websockets = false"]);
});

test("Codex gets the local token where one is required", () => {
  const token = `experimental_bearer_token = "${TOKEN}"`;
  assert.ok(codexLines({ credential: TOKEN, isToken: true }).includes(token));
});

test("Codex is run with the same provider in its flags", () => {
  const { flags } = environmentOf("codex", { model: "gpt-5.5" }) ?? {};
  const table = PROVIDER.slice(1).map((line) => line.replace(" = ", "="));
  assert.deepEqual(flags, [
    "-c",
    'model_provider="tollkeeper"',
    "-c",
    `model_providers.tollkeeper={${table.join(",")}}`,
    "-c",
    'model="gpt-5.5"',
  ]);
});

test("Codex's settings are in CODEX_HOME", () => {
  assert.equal(firstFile("codex", { CODEX_HOME: "/etc/c" }), "/etc/c/config.toml");
});

test("Codex is recognized by its originator or its User-Agent", () => {
  assert.equal(toolOfRequest({ originator: "codex_exec" }), "codex by signature");
  assert.equal(toolOfRequest({ "user-agent": "codex-tui/0.169.0" }), "codex by signature");
});

for (const path of [
  "/x/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
  "/usr/bin/node > /x/node_modules/@openai/codex/bin/codex.js",
]) {
  test(`${path} is a process of Codex`, () => assert.equal(toolOfProcess(path), "codex"));
}

const CONFIG = "~/.codex/config.toml";

test("Codex's requests go elsewhere by another provider in its settings, or in the administrator's, which override them", () => {
  assert.deepEqual(conflictsOf("codex", { [CONFIG]: { model_provider: "tollkeeper" } }), {});
  assert.deepEqual(conflictsOf("codex", { [CONFIG]: { model_provider: "azure" } }), {
    [`${CONFIG} (model_provider): Codex uses the provider azure`]: {},
  });
  const managed = "/etc/codex/managed_config.toml";
  const both = { [CONFIG]: { model_provider: "tollkeeper" }, [managed]: { model_provider: "azure" } };
  assert.deepEqual(conflictsOf("codex", both), {
    [`${managed} (model_provider): Codex uses the provider azure`]: {},
  });
});

test("an older Codex's requests go elsewhere by the provider of its active profile", () => {
  const profiles = { work: { model_provider: "azure" }, home: { model: "x" } };
  const config = { model_provider: "tollkeeper", profiles };
  assert.deepEqual(conflictsOf("codex", { [CONFIG]: config }), {});
  assert.deepEqual(conflictsOf("codex", { [CONFIG]: { ...config, profile: "home" } }), {});
  assert.deepEqual(conflictsOf("codex", { [CONFIG]: { ...config, profile: "work" } }), {
    [`${CONFIG} (profiles.work.model_provider): the active profile uses the provider azure`]: {
      "profiles.work.model_provider": "tollkeeper",
    },
  });
});

test("Codex's requests go elsewhere with a profile in a file of its own that names another provider", () => {
  const profile = "~/.codex/work.config.toml";
  const here = { [CONFIG]: { model_provider: "tollkeeper" } };
  assert.deepEqual(conflictsOf("codex", { ...here, [profile]: { model: "x" } }), {});
  assert.deepEqual(conflictsOf("codex", { ...here, [profile]: { model_provider: "azure" } }), {
    [`${profile} (model_provider): with --profile work Codex uses the provider azure`]: {},
  });
});

test("Codex's requests go elsewhere by another base URL of the provider tollkeeper", () => {
  const model_providers = { tollkeeper: { base_url: "https://models.work.example/v1" } };
  assert.deepEqual(conflictsOf("codex", { [CONFIG]: { model_provider: "tollkeeper", model_providers } }), {
    [`${CONFIG} (model_providers.tollkeeper.base_url): it is another base URL`]: {},
  });
});

test("where its plan pays, a key in the shell that Codex sends instead of its login is a conflict, and others are none", () => {
  const env = { CODEX_API_KEY: "mine", OPENAI_API_KEY: "other", OPENAI_BASE_URL: "http://127.0.0.1:9" };
  const reason = "Codex sends it instead of its login, and tollkeeper refuses such requests";
  assert.deepEqual(conflictsOf("codex", {}, { account: "plan", env }), {
    [`env (env.CODEX_API_KEY): ${reason}`]: {},
  });
  assert.deepEqual(conflictsOf("codex", {}, { env }), {});
});

test("where its plan pays and a token is required, a run of Codex brings the token in a header of ours", () => {
  const { flags = [], variables } = environmentOf("codex", { account: "plan", isToken: true }) ?? {};
  assert.match(
    flags.join(" "),
    /requires_openai_auth=true,env_http_headers=\{"x-tollkeeper-token"="TOLLKEEPER_TOKEN"\}/,
  );
  assert.deepEqual(variables, { TOLLKEEPER_TOKEN: "tk-codex" });
});
