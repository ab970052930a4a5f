import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyFailure } from "../../src/core/failure.ts";
import { post, startGate, upstreamAt } from "../helpers/gate.ts";
import { peersOf } from "../helpers/memory.ts";
import { rawClient } from "../helpers/raw-client.ts";
import { answerJson, startUpstream } from "../helpers/upstream.ts";

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

test("the key belongs to the upstream's origin: another origin finds none", async (t) => {
  const first = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const second = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, first.baseUrl);
  const { prepareSettings } = await import("../../src/proxy/settings.ts");
  const moved = { ...gate.gate.settings.config, upstreams: { default: upstreamAt(second.baseUrl) } };
  gate.gate.use(prepareSettings(moved));
  const res = await post(gate, "/v1/responses", {});
  assert.equal(res.headers.get("x-tollkeeper-refusal"), "key_missing");
  assert.equal(second.seen.length, 0);
});

for (const [what, method, path, status, code] of [
  ["an unknown path", "POST", "/v1/files", 404, "not_found"],
  ["a wrong method", "GET", "/v1/messages", 405, "method_not_allowed"],
  ["OPTIONS", "OPTIONS", "/v1/messages", 405, "method_not_allowed"],
  ["DELETE", "DELETE", "/v1/responses", 405, "method_not_allowed"],
] as const) {
  test(`${what} is ${status}, goes nowhere and leaves no record`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
    const gate = await startGate(t, upstream.baseUrl);
    const headers = { "content-type": "application/json" };
    const res = await fetch(gate.url + path, { method, headers });
    await res.text();
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [status, code]);
    if (status === 405) assert.equal(res.headers.get("allow"), "POST");
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

test("a WebSocket upgrade is answered 426 at once, on any path", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  for (const path of ["/v1/responses", "/nowhere"]) {
    const client = await rawClient(t, gate.port);
    client.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    assert.match(await client.closed, /^HTTP\/1\.1 426 /);
  }
  assert.equal(upstream.seen.length, 0);
});

test("an upgrade with a foreign Host is refused for the Host", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(
    "GET /v1/responses HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  assert.match(await client.until(/host_not_allowed/), /^HTTP\/1\.1 403 /);
});

test("an offer of h2c, as Java's client makes it, is not taken up, and the request is served", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(
    `GET /v1/models HTTP/1.1\r\nHost: localhost:${gate.port}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n`,
  );
  assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
  const sent = Object.keys(upstream.seen[0]?.headers ?? {});
  assert.ok(!sent.includes("upgrade") && !sent.includes("http2-settings"));
});

test("marks of a browser are seen behind any number of other headers", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  const many = Array.from({ length: 1500 }, (_, i) => `a${i}: b\r\n`).join("");
  client.write(
    `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n${many}Origin: https://evil.example\r\n\r\n`,
  );
  assert.match(await client.until(/origin_not_allowed/), /^HTTP\/1\.1 403 /);
  assert.equal(upstream.seen.length, 0);
});

test("an expectation that nobody knows does not get past the Host either", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write("POST /v1/messages HTTP/1.1\r\nHost: evil.example\r\nExpect: something\r\n\r\n");
  assert.match(await client.until(/host_not_allowed/), /^HTTP\/1\.1 403 /);
});

test("HEAD probes are answered here, empty and unrecorded", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl);
  for (const path of ["/", "/api/hello", "/t/claude-code/api/hello"]) {
    assert.equal((await fetch(gate.url + path, { method: "HEAD" })).status, 200);
  }
  assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
});

test("another user's process is refused, before anything is forwarded", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const gate = await startGate(t, upstream.baseUrl, { peers: peersOf(12_345) });
  const res = await post(gate, "/v1/responses", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [403, "peer_not_allowed"]);
  assert.equal(upstream.seen.length, 0);
});

test("a body announced as too large is refused before it is read, and the answer arrives", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const { defaultConfig } = await import("../../src/core/config.ts");
  const config = { limits: { ...defaultConfig.limits, bodyBytes: 1000 } };
  const gate = await startGate(t, upstream.baseUrl, { config });
  const res = await post(gate, "/v1/responses", { input: "x".repeat(500_000) });
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [413, "body_too_large"]);
  assert.equal(upstream.seen.length, 0);
});

test("a chunked body that grows too large is refused while it comes", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const { defaultConfig } = await import("../../src/core/config.ts");
  const config = { limits: { ...defaultConfig.limits, bodyBytes: 1000 } };
  const gate = await startGate(t, upstream.baseUrl, { config });
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  client.write(`1f4\r\n${"x".repeat(500)}\r\n`);
  client.write(`1f5\r\n${"x".repeat(501)}\r\n`);
  assert.match(await client.until(/body_too_large/), /^HTTP\/1\.1 413 /);
  assert.equal((await gate.ledger.only()).error_type, "body_too_large");
  assert.equal(upstream.seen.length, 0);
});

test("a second request on a connection whose first is under way is refused", async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  const head = `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`;
  const arrived = new Promise((resolve) => upstream.server.once("request", resolve));
  client.write(head);
  await arrived;
  client.write(head + head);
  upstream.answer((_seen, res) => answerJson(res, {}));
  client.socket.end();
  await client.closed;
  assert.equal(upstream.seen.length, 1);
});
