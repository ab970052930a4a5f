import assert from "node:assert/strict";
import { test } from "node:test";
import { toolOfProcess, toolOfRequest, writtenObject } from "./tool-support.ts";

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

test("Droid is recognized by its User-Agent", () => {
  assert.equal(toolOfRequest({ "user-agent": "factory-cli/0.225.2" }), "droid by signature");
});

test("/x/node_modules/@factory/cli-linux-x64/bin/droid is a process of Droid", () => {
  assert.equal(toolOfProcess("/x/node_modules/@factory/cli-linux-x64/bin/droid"), "droid");
});
