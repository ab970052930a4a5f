import assert from "node:assert/strict";
import { test } from "node:test";
import { CONNECTABLE_TOOLS } from "../../src/tools/all.ts";
import { toolOfProcess } from "./tool-support.ts";

for (const [path, name] of [
  ["/usr/local/bin/amp", "amp"],
  ["/usr/local/bin/crush", "crush"],
] as const) {
  test(`${path} is a process of ${name}, which cannot be connected`, () => {
    assert.equal(toolOfProcess(path), name);
    assert.ok(CONNECTABLE_TOOLS.every((tool) => tool.name !== name));
  });
}
