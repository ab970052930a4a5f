import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyFailure } from "../../../src/core/failure.ts";
import { problemsOf } from "../../helpers/config/config-problems.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post } from "../../helpers/gate/gate.ts";
import { respondWithEmptyJson, sendJson, type Script } from "../../helpers/upstream/scripted-upstream.ts";

const respondWith401: Script = (_seen, res) => sendJson(res, { error: {} }, 401);

test("a refusal has the error shape of its route's API, carries x-tollkeeper-refusal, and is recorded", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
  gate.keys.values.clear();
  const messages = await post(gate, "/v1/messages", {});
  assert.deepEqual(
    [messages.status, messages.headers.get("x-tollkeeper-refusal"), messages.headers.get("x-should-retry")],
    [402, "key_missing", "false"],
  );
  const body = (await messages.json()) as { type: string; error: { type: string; message: string } };
  assert.equal(body.type, "error");
  assert.equal(body.error.type, "billing_error");
  assert.match(body.error.message, /^tollkeeper: .*no .*key.*\. Type: tollkeeper key set$/i);
  const refused = await post(gate, "/v1/responses", {});
  assert.equal(refused.status, 400);
  const responses = (await refused.json()) as { error: Record<string, unknown> };
  assert.deepEqual(Object.keys(responses.error), ["message", "type", "code", "param"]);
  assert.equal(responses.error["code"], "key_missing");
  assert.equal(upstream.seen.length, 0);
  assert.deepEqual(
    gate.ledger.records.map(({ outcome, error_type, status, spend }) => [outcome, error_type, status, spend]),
    [
      ["rejected", "key_missing", 402, "never"],
      ["rejected", "key_missing", 400, "never"],
    ],
  );
});

test("a locked keychain is refused as key_locked, and is read again for the next request", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  gate.keys.failure = new KeyFailure("locked", "the keychain is locked", "unlock it, then try again");
  const refused = await post(gate, "/v1/responses", {});
  assert.equal(refused.headers.get("x-tollkeeper-refusal"), "key_locked");
  assert.match(await refused.text(), /tollkeeper cannot read the key: the keychain is locked\. Unlock it/);
  gate.keys.failure = null;
  assert.equal((await post(gate, "/v1/responses", {})).status, 200);
});

test("a key store that does not answer in time is refused with 503, which tools retry", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  gate.keys.failure = new KeyFailure("unresponsive", "the keychain does not answer", "answer its prompt");
  for (const path of ["/v1/messages", "/v1/responses"]) {
    const res = await post(gate, path, {});
    await res.text();
    assert.deepEqual(
      [res.status, res.headers.get("x-tollkeeper-refusal"), res.headers.get("x-should-retry")],
      [503, "key_unresponsive", null],
    );
  }
});

test("a key is read once for many requests, and read again after the keyring has forgotten it", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
  for (let i = 0; i < 3; i += 1) await (await post(gate, "/v1/responses", {})).text();
  assert.equal(gate.keys.reads, 1);
  gate.keys.set({ name: "default", origin: upstream.origin }, "second-key");
  gate.keyring.forget();
  await (await post(gate, "/v1/responses", {})).text();
  assert.equal(upstream.seen.at(-1)?.headers.authorization, "Bearer second-key");
});

test("a request that got a 401 from the upstream is not repeated with the key that is stored now", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWith401);
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

test("after a 401 from the upstream the stored key is read again, and the next request uses it", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWith401);
  await (await post(gate, "/v1/models", {})).text();
  gate.keys.set({ name: "default", origin: upstream.origin }, "replaced-key");
  for (let i = 0; i < 2; i += 1) await (await post(gate, "/v1/responses", {})).text();
  assert.equal(upstream.seen.at(-1)?.headers.authorization, "Bearer replaced-key");
  assert.equal(gate.keys.reads, 2);
});

test("a path that no route has is refused with 404, is not forwarded, and leaves no record", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
  const res = await post(gate, "/v1/vector_stores?key=private", {});
  assert.match(
    await res.text(),
    /there is no route POST \/v1\/vector_stores\. To forward it, add .*\. Type: tollkeeper config edit"/,
  );
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [404, "not_found"]);
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

test("the 404 of a mistyped path names the route that was probably meant", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  const res = await post(gate, "/v1/mesages", {});
  assert.equal(res.status, 404);
  assert.match(
    await res.text(),
    /there is no route POST \/v1\/mesages\. Did you mean POST \/v1\/messages\? Type: /,
  );
});

test("the 404 of Google's own API says how to add an upstream that has it, and what else there is", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
  for (const path of [
    "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    "/t/gemini/v1beta/models/gemini-2.5-flash%3AgenerateContent?key=private",
  ]) {
    const res = await post(gate, path, {});
    assert.equal(res.status, 404);
    const text = await res.text();
    assert.match(
      text,
      /No upstream serves Google's API: add one with \\"apis\\": \[\\"gemini\\"\], or choose the tool's OpenAI-compatible provider\. Type: tollkeeper setup/,
    );
    assert.doesNotMatch(text, /private/);
  }
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

test("the 404 of an endpoint that can be forwarded says how, and the route that it names is valid", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  const { error } = (await (await post(gate, "/v1/fine_tuning/jobs", {})).json()) as {
    error: { message: string };
  };
  assert.match(
    error.message,
    /there is no route POST \/v1\/fine_tuning\/jobs\. To forward it, add .* Type: tollkeeper config edit$/,
  );
  const route = JSON.parse(/add (\{.*?\})/.exec(error.message)?.[1] ?? "") as object;
  assert.deepEqual(
    problemsOf({ upstreams: { default: { baseUrl: "https://a.example/v1", routes: [route] } } }),
    [],
  );
});

for (const path of ["/t/v1/messages", "/t/messages", "/t//v1/messages", "/t/V1/messages?beta=true"]) {
  test(`${path}, which lacks the tool's name, is refused with the path that was meant, and books no tool`, async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
    const res = await post(gate, path, {});
    assert.equal(res.status, 404);
    assert.match(
      await res.text(),
      /The name of a tool is missing: did you mean POST \/t\/NAME\/v1\/messages\? Type: tollkeeper connect --list"/,
    );
    assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [0, 0]);
  });
}

for (const [path, meant] of [
  ["/t/Claude%20Code/v1/messages", "/t/claude-code/v1/messages"],
  ["/t/my+script/v1/messages?beta=true", "/t/my-script/v1/messages"],
  ["/t/R%26D", "/t/r-d"],
] as const)
  test(`${path}, whose tool cannot have that name, is refused with one that it can have`, async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, respondWithEmptyJson);
    const res = await post(gate, path, {});
    assert.equal(res.status, 404);
    const text = await res.text();
    assert.ok(text.includes(`did you mean POST ${meant}? Type: tollkeeper connect --list`), text);
    assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [0, 0]);
  });

test("/t/v1beta and what follows it is no tool either", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  const res = await post(gate, "/t/v1beta/models/x:generateContent", {});
  assert.equal(res.status, 404);
  assert.match(await res.text(), /The name of a tool is missing: did you mean a base URL such as /);
});
