import assert from "node:assert/strict";
import { test } from "node:test";
import { conflictsOf, environmentOf, toolOfProcess } from "./tool-support.ts";

test("goose is run with Anthropic's provider", () => {
  assert.deepEqual(environmentOf("goose"), {
    variables: {
      GOOSE_PROVIDER: "anthropic",
      ANTHROPIC_HOST: "http://127.0.0.1:8655/t/goose",
      ANTHROPIC_API_KEY: "tk-goose",
      GOOSE_MODEL: "claude-sonnet-5",
    },
    flags: [],
  });
});

test("/usr/local/bin/goose is a process of goose", () => {
  assert.equal(toolOfProcess("/usr/local/bin/goose"), "goose");
});

test("goose's requests go elsewhere by another provider, for which the variable counts first, or another host", () => {
  const path = "~/.config/goose/config.yaml";
  const here = { active_provider: "anthropic", ANTHROPIC_HOST: "http://127.0.0.1:8655/t/goose" };
  assert.deepEqual(conflictsOf("goose", { [path]: here }), {});
  assert.deepEqual(conflictsOf("goose", { [path]: { ...here, active_provider: "openai" } }), {
    [`${path} (active_provider): goose uses the provider openai`]: {},
  });
  const env = { GOOSE_PROVIDER: "databricks", ANTHROPIC_HOST: "https://models.work.example" };
  assert.deepEqual(conflictsOf("goose", { [path]: here }, { env }), {
    "env (GOOSE_PROVIDER): goose uses the provider databricks": {},
    "env (ANTHROPIC_HOST): it is another base URL": {},
  });
});
