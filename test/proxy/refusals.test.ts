import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyFailure } from "../../src/core/failure.ts";
import { post, startGate } from "../helpers/gate/gate.ts";
import { answerJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

test("a refusal has the error shape of its route's API, and marks itself as ours", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  gate.keys.values.clear();
  const messages = await post(gate, "/v1/messages", {});
  assert.deepEqual(
    [messages.status, messages.headers.get("x-tollkeeper-refusal"), messages.headers.get("x-should-retry")],
    [503, "key_missing", "false"],
  );
  const text = (await messages.json()) as { type: string; error: { type: string; message: string } };
  assert.equal(text.type, "error");
  assert.equal(text.error.type, "api_error");
  assert.match(text.error.message, /tollkeeper key set default/);
  const responses = (await (await post(gate, "/v1/responses", {})).json()) as {
    error: Record<string, unknown>;
  };
  assert.deepEqual(Object.keys(responses.error), ["message", "type", "code", "param"]);
  assert.equal(responses.error["code"], "key_missing");
  assert.equal(upstream.seen.length, 0);
  assert.deepEqual(
    gate.ledger.records.map(({ outcome, error_type, status, spend }) => [outcome, error_type, status, spend]),
    [
      ["rejected", "key_missing", 503, "never"],
      ["rejected", "key_missing", 503, "never"],
    ],
  );
});

test("a locked keychain is told apart from a missing key, and asked again with the next request", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  gate.keys.failure = new KeyFailure("locked", "the keychain is locked", "unlock it, then try again");
  const refused = await post(gate, "/v1/responses", {});
  assert.equal(refused.headers.get("x-tollkeeper-refusal"), "key_locked");
  assert.match(await refused.text(), /locked; unlock it/);
  gate.keys.failure = null;
  assert.equal((await post(gate, "/v1/responses", {})).status, 200);
});

test("a key read once is kept, and read anew after it was said to have changed", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  for (let i = 0; i < 3; i += 1) await (await post(gate, "/v1/responses", {})).text();
  assert.equal(gate.keys.reads, 1);
  gate.keys.set({ name: "default", origin: upstream.origin }, "second-key");
  gate.keyring.forget();
  await (await post(gate, "/v1/responses", {})).text();
  assert.equal(upstream.seen.at(-1)?.headers.authorization, "Bearer second-key");
});

test("after a 401 the stored key is read once more; the request itself is not repeated", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { error: {} }, 401));
  const gate = await startGate(t, upstream.baseUrl);
  await (await post(gate, "/v1/responses", {})).text();
  gate.keys.set({ name: "default", origin: upstream.origin }, "renewed-key");
  gate.keyring.forget();
  await (await post(gate, "/v1/responses", {})).text();
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers.authorization?.endsWith("renewed-key")),
    [false, true],
  );
  assert.equal(upstream.seen.length, 2);
});

test("a 401 with a key that was replaced in the store takes the new one for the next request", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { error: {} }, 401));
  const gate = await startGate(t, upstream.baseUrl);
  await (await post(gate, "/v1/models", {})).text();
  gate.keys.set({ name: "default", origin: upstream.origin }, "replaced-key");
  for (let i = 0; i < 2; i += 1) await (await post(gate, "/v1/responses", {})).text();
  assert.equal(upstream.seen.at(-1)?.headers.authorization, "Bearer replaced-key");
  assert.equal(gate.keys.reads, 2);
});

test("an unknown path is 404, goes nowhere and leaves no record", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  const res = await post(gate, "/v1/files", {});
  await res.text();
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [404, "not_found"]);
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

test("HEAD probes are answered here, empty and unrecorded", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  for (const path of ["/", "/api/hello", "/t/claude-code/api/hello"]) {
    assert.equal((await fetch(gate.url + path, { method: "HEAD" })).status, 200);
  }
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});
