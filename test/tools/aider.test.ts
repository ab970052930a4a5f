import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentOf, toolOfProcess } from "./tool-support.ts";

test("aider is run with the variables of the library below it, and with a model qualified by its provider", () => {
  assert.deepEqual(environmentOf("aider"), {
    variables: {
      ANTHROPIC_API_BASE: "http://127.0.0.1:8655/t/aider",
      ANTHROPIC_API_KEY: "tk-aider",
      AIDER_MODEL: "anthropic/claude-sonnet-5",
    },
    flags: [],
  });
});

for (const path of ["/usr/bin/python3.11 > aider", "/usr/bin/python3 > /home/u/.local/bin/aider"]) {
  test(`${path} is a process of aider`, () => assert.equal(toolOfProcess(path), "aider"));
}
