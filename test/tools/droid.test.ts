import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, toolOfProcess, toolOfRequest, writtenObject } from "./tool-support.ts";

test("Droid is connected by a custom model with an id of its own, which sessions start with", () => {
  const entry = {
    displayName: "tollkeeper",
    id: "custom:tollkeeper",
    model: "gpt-5.5",
    baseUrl: "http://127.0.0.1:8655/t/droid/v1",
    apiKey: "tk-droid",
    provider: "openai",
    maxOutputTokens: 16_384,
  };
  assert.deepEqual(writtenObject("droid", "~/.factory/settings.json", { model: "gpt-5.5" }), {
    customModels: [entry],
    sessionDefaultSettings: { model: entry.id },
  });
});

for (const [model, provider] of [
  ["claude-sonnet-5", "anthropic"],
  ["qwen3-coder:30b", "generic-chat-completion-api"],
] as const) {
  test(`Droid is connected for ${model} by the provider ${provider}`, () => {
    const [entry] = (
      writtenObject("droid", "~/.factory/settings.json", { model }) as { customModels: object[] }
    ).customModels;
    assert.deepEqual({ ...entry, provider }, entry);
  });
}

test("Droid is recognized by its User-Agent", () => {
  assert.equal(toolOfRequest({ "user-agent": "factory-cli/0.225.2" }), "droid by signature");
});

test("/x/node_modules/@factory/cli-linux-x64/bin/droid is a process of Droid", () => {
  assert.equal(toolOfProcess("/x/node_modules/@factory/cli-linux-x64/bin/droid"), "droid");
});

const chosen = (model: string) => ({ sessionDefaultSettings: { model } });

test("Droid's sessions go elsewhere by another default model, of which the project's local one is the strongest", () => {
  const remedy = { "sessionDefaultSettings.model": "custom:tollkeeper" };
  const reason = "(sessionDefaultSettings.model): sessions start with claude-opus";
  const paths = [
    "~/.factory/settings.json",
    "~/.factory/settings.local.json",
    "./.factory/settings.json",
    "./.factory/settings.local.json",
  ];
  for (const [index, path] of paths.entries()) {
    const weaker = Object.fromEntries(paths.slice(0, index).map((one) => [one, chosen("custom:tollkeeper")]));
    assert.deepEqual(conflictsOf("droid", { ...weaker, [path]: chosen("claude-opus") }), {
      [`${path} ${reason}`]: remedy,
    });
  }
  const both = { "~/.factory/settings.json": chosen("x"), [paths[3] ?? ""]: chosen("custom:tollkeeper") };
  assert.deepEqual(conflictsOf("droid", both), {});
});

test("Droid does not come here where its local settings have a list of models without ours; the project's is only added", () => {
  const ours = { id: "custom:tollkeeper", displayName: "tollkeeper" };
  const theirs = { id: "custom:mine", displayName: "Mine" };
  const [own, local, project] = [
    "~/.factory/settings.json",
    "~/.factory/settings.local.json",
    "./.factory/settings.json",
  ] as const;
  const reason = "(customModels): it leaves out the model that points at tollkeeper";
  const hidden = { [own]: { customModels: [ours] }, [local]: { customModels: [theirs] } };
  assert.deepEqual(conflictsOf("droid", hidden), { [`${local} ${reason}`]: "needs a model" });
  const [remedies] = Object.values(conflictsOf("droid", hidden, { model: "claude-sonnet-5" }));
  assert.equal(
    (remedies as Record<string, unknown>)["customModels[displayName=tollkeeper].id"],
    "custom:tollkeeper",
  );
  assert.deepEqual(conflictsOf("droid", { ...hidden, [local]: { customModels: [theirs, ours] } }), {});
  const added = { [own]: { customModels: [ours] }, [project]: { customModels: [theirs] } };
  assert.deepEqual(conflictsOf("droid", added), {});
});
