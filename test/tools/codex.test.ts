import assert from "node:assert/strict";
import { test } from "node:test";
import type { LocalEndpoint } from "../../src/tools/tool.ts";
import {
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

test("Codex is connected by a provider of its own, without WebSockets and without a credential", () => {
  assert.deepEqual(codexLines({ model: null }), ['model_provider = "tollkeeper"', "", ...PROVIDER]);
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
