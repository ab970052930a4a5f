import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conflictsOf,
  environmentOf,
  firstFile,
  toolOfProcess,
  toolOfRequest,
  writtenObject,
} from "./tool-support.ts";

const BASE_URL = "http://127.0.0.1:8655/t/qwen-code";
const MODEL = "claude-sonnet-5";
const SETTINGS = "~/.qwen/settings.json";

test("Qwen Code is connected by an entry in its list of models that speaks Messages, and by a variable for the key", () => {
  const envKey = "TOLLKEEPER_QWEN_CODE";
  assert.deepEqual(writtenObject("qwen-code", "~/.qwen/settings.json"), {
    security: { auth: { selectedType: "anthropic" } },
    env: { [envKey]: "tk-qwen-code" },
    modelProviders: { anthropic: [{ name: "tollkeeper", id: MODEL, baseUrl: BASE_URL, envKey }] },
    model: { name: MODEL },
  });
});

test("Qwen Code is connected and run with Chat Completions for all but Claude's models", () => {
  const envKey = "TOLLKEEPER_QWEN_CODE";
  const id = "qwen3-coder:30b";
  const entry = { name: "tollkeeper", id, baseUrl: `${BASE_URL}/v1`, envKey };
  const settings = {
    security: { auth: { selectedType: "openai" } },
    env: { [envKey]: "tk-qwen-code" },
    modelProviders: { openai: [entry] },
    model: { name: id },
  };
  assert.deepEqual(writtenObject("qwen-code", SETTINGS, { model: id }), settings);
  assert.deepEqual(environmentOf("qwen-code", { model: id }), {
    variables: { OPENAI_BASE_URL: `${BASE_URL}/v1`, OPENAI_API_KEY: "tk-qwen-code" },
    flags: ["--auth-type", "openai", "--model", id],
  });
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: settings }), {});
  const other = {
    ...settings,
    modelProviders: { openai: [{ ...entry, baseUrl: "https://models.work.example" }] },
  };
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: other }, { model: id }), {
    [`${SETTINGS} (security.auth.selectedType): Qwen Code uses a service of type openai`]: {
      "security.auth.selectedType": "openai",
    },
  });
  const before = { id, baseUrl: "https://models.work.example", envKey: "W" };
  assert.deepEqual(
    conflictsOf("qwen-code", { [SETTINGS]: { ...settings, modelProviders: { openai: [before, entry] } } }),
    {
      [`${SETTINGS} (modelProviders.openai.0): it comes before tollkeeper's entry for ${id}`]: {
        [`modelProviders.openai[id=${id}].baseUrl`]: `${BASE_URL}/v1`,
        [`modelProviders.openai[id=${id}].envKey`]: envKey,
      },
    },
  );
});

test("Qwen Code is run with flags that choose Messages and the model", () => {
  assert.deepEqual(environmentOf("qwen-code"), {
    variables: { ANTHROPIC_BASE_URL: BASE_URL, ANTHROPIC_API_KEY: "tk-qwen-code" },
    flags: ["--auth-type", "anthropic", "--model", MODEL],
  });
});

test("Qwen Code's settings are in QWEN_HOME", () => {
  assert.equal(firstFile("qwen-code", { QWEN_HOME: "/etc/c" }), "/etc/c/settings.json");
});

test("Qwen Code is recognized by Claude Code's User-Agent without Claude Code's session id", () => {
  assert.equal(
    toolOfRequest({ "user-agent": "claude-cli/0.24.4 (external, cli)" }),
    "qwen-code by signature",
  );
  assert.equal(toolOfRequest({ "user-agent": "QwenCode/0.24.4 (linux; x64)" }), "qwen-code by signature");
});

for (const path of [
  "/usr/bin/node > /usr/local/bin/qwen",
  "/usr/bin/node > /x/node_modules/@qwen-code/qwen-code/cli-entry.js",
]) {
  test(`${path} is a process of Qwen Code`, () => assert.equal(toolOfProcess(path), "qwen-code"));
}

const HERE = {
  security: { auth: { selectedType: "anthropic" } },
  model: { name: "claude-sonnet-5" },
  modelProviders: {
    anthropic: [
      {
        id: "claude-sonnet-5",
        name: "tollkeeper",
        baseUrl: "http://127.0.0.1:8655/t/qwen-code",
        envKey: "K",
      },
    ],
  },
};

test("Qwen Code's requests go elsewhere by another type of service, the user's, the project's or the administrator's", () => {
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: HERE }), {});
  const other = { security: { auth: { selectedType: "openai" } } };
  for (const path of [SETTINGS, "./.qwen/settings.json", "/etc/qwen-code/settings.json"]) {
    assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: HERE, [path]: other }), {
      [`${path} (security.auth.selectedType): Qwen Code uses a service of type openai`]: {
        "security.auth.selectedType": "anthropic",
      },
    });
  }
  const defaults = "/etc/qwen-code/system-defaults.json";
  assert.deepEqual(conflictsOf("qwen-code", { [defaults]: other, [SETTINGS]: HERE }), {});
});

test("Qwen Code's requests go elsewhere by another entry for its model, of which the first counts", () => {
  const other = { id: "claude-sonnet-5", name: "Work", baseUrl: "https://models.work.example", envKey: "W" };
  const [own] = HERE.modelProviders.anthropic;
  const before = { ...HERE, modelProviders: { anthropic: [other, own] } };
  const reason = "it comes before tollkeeper's entry for claude-sonnet-5";
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: before }), {
    [`${SETTINGS} (modelProviders.anthropic.0): ${reason}`]: {
      "modelProviders.anthropic[id=claude-sonnet-5].baseUrl": "http://127.0.0.1:8655/t/qwen-code",
      "modelProviders.anthropic[id=claude-sonnet-5].envKey": "TOLLKEEPER_QWEN_CODE",
    },
  });
  const behind = { ...HERE, modelProviders: { anthropic: [own, other] } };
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: behind }), {});
});

test("Qwen Code's requests go elsewhere where a project's list of models leaves ours out", () => {
  const project = { modelProviders: { anthropic: [{ id: "x", baseUrl: "https://models.work.example" }] } };
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: HERE, "./.qwen/settings.json": project }), {
    "./.qwen/settings.json (modelProviders.anthropic): it leaves out tollkeeper's entry for claude-sonnet-5":
      "needs a model",
  });
  const openai = { modelProviders: { openai: [{ id: "x", baseUrl: "https://models.work.example" }] } };
  assert.deepEqual(conflictsOf("qwen-code", { [SETTINGS]: HERE, "./.qwen/settings.json": openai }), {});
});
