// B11, what is stored with another key: a request for a stored response goes to the upstream and key that created it only if the same tool
// created it, may use that upstream, and the configuration names that key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyTo, sendAs, service, startWithStored, toolWith } from "../helpers/gate/gate-with-stored.ts";
import { keyOf, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import type { ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";

/** Returns the keys with which an upstream was asked. */
function keysAt(upstream: ScriptedUpstream | undefined): (string | undefined)[] {
  return upstream?.seen.map(({ headers }) => headers.authorization?.replace("Bearer ", "")) ?? [];
}

test("a tool's stored response is asked for with the key that created it, and never with that of another tool", async (t) => {
  const { gate, upstreams } = await startWithStored(t, { a: service("a") });
  const origin = new URL(upstreams["a"]?.baseUrl ?? "").origin;
  for (const name of ["old", "new", "other"]) gate.keys.set({ name, origin }, `sk-${name}-1`);
  const others = { zed: toolWith({ key: "other" }), pi: toolWith({ key: "old" }) };
  useConfig(gate, { tools: { codex: toolWith({ key: "old" }), ...others } });
  await sendAs(gate, "POST", "/responses");
  useConfig(gate, { tools: { codex: toolWith({ key: "new" }), ...others } });
  await sendAs(gate, "GET", "/responses/resp_a");
  await sendAs(gate, "GET", "/responses/resp_a", "zed");
  await sendAs(gate, "GET", "/responses/resp_a", "someone");
  assert.deepEqual(keysAt(upstreams["a"]), ["sk-old-1", "sk-old-1", "sk-other-1", keyOf("a")]);
  // A key that nothing in the configuration names any more is not used.
  useConfig(gate, { tools: { codex: toolWith({ key: "new" }), zed: others.zed } });
  await sendAs(gate, "GET", "/responses/resp_a");
  assert.equal(keysAt(upstreams["a"]).at(-1), "sk-new-1");
});

test("an upstream that the tool may not use does not get its requests, whoever created the response", async (t) => {
  const { gate } = await startWithStored(t, { a: service("a"), b: service("b") });
  useConfig(gate, { tools: onlyTo("b") });
  await sendAs(gate, "POST", "/responses");
  useConfig(gate, { tools: onlyTo("a") });
  assert.equal(await sendAs(gate, "GET", "/responses/resp_b"), "a");
});

test("a client without the token that it needs has nothing looked for", async (t) => {
  const { gate, searches } = await startWithStored(t, { a: service("a"), b: service("b") });
  useConfig(gate, { access: { mode: "token", peerUid: [] } });
  const response = await fetch(`${gate.url}/v1/responses/resp_unknown`);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "token_required");
  assert.deepEqual(searches, []);
});
