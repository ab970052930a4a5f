import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { post } from "../helpers/gate/gate.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

const RULES = {
  tools: {
    codex: { key: "codex" },
    pi: { group: "team" },
    zed: { group: "team", key: "zed" },
    "*": { group: "rest" },
  },
  groups: { team: { key: "team" }, rest: { key: "rest" } },
};

/** A gate whose upstream has these keys beside its own, which is "default". */
async function start(t: TestContext, stored: string[]) {
  const { gate, upstreams } = await startGateWithUpstreams(t, { main: { script: respondWithMessage } });
  useConfig(gate, rulesForTools(RULES));
  for (const name of stored) gate.keys.set({ name, origin: upstreams.main.origin }, `sk-${name}-4711`);
  const keyOf = async (tool: string) => {
    const before = upstreams.main.seen.length;
    const response = await post(gate, `/t/${tool}/v1/responses`, { model: "m" });
    const text = await response.text();
    const seen = upstreams.main.seen.at(before);
    return seen === undefined ? text : (seen.headers.authorization ?? "none");
  };
  return { gate, keyOf };
}

test("a tool sends its own key, or else its group's, and the record names it", async (t) => {
  const { gate, keyOf } = await start(t, ["codex", "team", "zed", "rest"]);
  for (const [tool, key] of [
    ["codex", "codex"],
    ["pi", "team"],
    ["zed", "zed"],
    ["aider", "rest"],
  ] as const) {
    assert.equal(await keyOf(tool), `Bearer sk-${key}-4711`);
    assert.deepEqual([gate.ledger.records.at(-1)?.tool, gate.ledger.records.at(-1)?.key], [tool, key]);
  }
});

for (const [tool, key] of [
  ["codex", "codex"],
  ["pi", "team"],
  ["zed", "zed"],
  ["aider", "rest"],
] as const) {
  test(`where the key "${key}" of ${tool} is missing, no other is sent, and the refusal names the command`, async (t) => {
    const others = ["codex", "team", "zed", "rest"].filter((name) => name !== key);
    const { gate, keyOf } = await start(t, others);
    assert.match(
      await keyOf(tool),
      new RegExp(`tollkeeper: .*[.] Type: tollkeeper key set ${key} --upstream main`),
    );
    const record = gate.ledger.records.at(-1);
    assert.deepEqual([record?.outcome, record?.error_type, record?.key], ["rejected", "key_missing", key]);
  });
}
