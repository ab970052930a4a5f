import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentOf, toolOfProcess } from "./tool-support.ts";

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
