// A1, DNS rebinding: any request is refused with 403, before anything else happens, unless its Host is exactly one of our own names
// with our port.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { waitUntilHandled, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { peersOf } from "../helpers/gate/memory.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";
import { FOREIGN_HOSTS } from "./foreign-hosts.ts";
import { startGateWithUpstream, startGateWithHeldUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Opens a gate and counts what it does besides refusing. */
async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const config = { limits: { ...defaultConfig.limits, bodyBytes: 1 } };
  const gate = await startGate(t, upstream.baseUrl, { config });
  const done = () => ({
    forwarded: upstream.seen.length,
    keysRead: gate.keys.reads,
    recorded: gate.ledger.records.length,
  });
  return { gate, done };
}

const NOTHING = { forwarded: 0, keysRead: 0, recorded: 0 };

/** Opens a gate whose upstream would respond. */
async function openRespondingGate(t: TestContext): Promise<TestGate> {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  return startGate(t, upstream.baseUrl);
}

for (const host of FOREIGN_HOSTS) {
  test(`a request with Host ${JSON.stringify(host)} is refused, and nothing else happens`, async (t) => {
    const { gate, done } = await openGate(t);
    const field = `Host: ${host.replace("PORT", String(gate.port))}`;
    const { status, refusal } = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", field]);
    assert.deepEqual([status, refusal], [403, "host_not_allowed"]);
    assert.deepEqual(done(), NOTHING);
  });
}

for (const host of [
  "127.0.0.1:PORT",
  "localhost:PORT",
  "LocalHost:PORT",
  "[::1]:PORT",
  "\t127.0.0.1:PORT \t",
]) {
  test(`a request with Host ${JSON.stringify(host)} is admitted`, async (t) => {
    const gate = await openRespondingGate(t);
    const field = `Host: ${host.replace("PORT", String(gate.port))}`;
    assert.equal((await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", field])).status, 200);
  });
}

/** Requests that have another fault, or that tollkeeper or Node would respond to. The Host is checked first. */
const REQUESTS: Record<string, string[]> = {
  "the root": ["GET / HTTP/1.1"],
  "a health check": ["GET /_tollkeeper/healthz HTTP/1.1"],
  "the metrics": ["GET /_tollkeeper/metrics HTTP/1.1"],
  "a probe of the root": ["HEAD / HTTP/1.1"],
  "a probe of a client": ["HEAD /api/hello HTTP/1.1"],
  "an unknown path": ["GET /nowhere HTTP/1.1"],
  "a target in absolute form with our own authority": ["GET http://127.0.0.1:PORT/v1/models HTTP/1.1"],
  "a target in asterisk form": ["OPTIONS * HTTP/1.1"],
  "a wrong method": ["DELETE /v1/messages HTTP/1.1"],
  TRACE: ["TRACE /v1/models HTTP/1.1"],
  "a preflight": [
    "OPTIONS /v1/messages HTTP/1.1",
    "Origin: https://evil.example",
    "Access-Control-Request-Method: POST",
  ],
  "a foreign Origin": ["GET /v1/models HTTP/1.1", "Origin: http://evil.example"],
  "a WebSocket": ["GET /v1/responses HTTP/1.1", "Connection: Upgrade, close", "Upgrade: websocket"],
  "a POST without a content type": ["POST /v1/messages HTTP/1.1"],
  "a body beyond the limit": ["POST /v1/messages HTTP/1.1", "Content-Type: application/json"],
  "a client that expects 100-continue": [
    "POST /v1/messages HTTP/1.1",
    "Content-Type: application/json",
    "Expect: 100-continue",
  ],
  "an unknown expectation": ["POST /v1/messages HTTP/1.1", "Expect: something"],
  "HTTP/1.0": ["GET /v1/models HTTP/1.0"],
  "our own name as forwarded host": [
    "GET /v1/models HTTP/1.1",
    "X-Forwarded-Host: 127.0.0.1:PORT",
    "Forwarded: host=127.0.0.1:PORT",
    "X-Host: 127.0.0.1:PORT",
  ],
};

for (const [what, lines] of Object.entries(REQUESTS)) {
  test(`a request for ${what} with a foreign Host is refused for its Host`, async (t) => {
    const { gate, done } = await openGate(t);
    const own = lines.map((line) => line.replaceAll("PORT", String(gate.port)));
    const body = lines[0]?.startsWith("POST") === true ? "{}" : "";
    const { status, refusal, text } = await exchangeRaw(t, gate.port, [...own, "Host: evil.example"], body);
    assert.deepEqual([status, refusal], [403, "host_not_allowed"]);
    assert.equal(text.includes("100 Continue"), false);
    assert.deepEqual(done(), NOTHING);
  });
}

for (const second of ["evil.example", "127.0.0.1:PORT"]) {
  test(`a request with a second Host, ${second}, is refused`, async (t) => {
    const { gate, done } = await openGate(t);
    for (const order of [0, 1]) {
      const hosts = [`Host: 127.0.0.1:${gate.port}`, `hOST: ${second.replace("PORT", String(gate.port))}`];
      if (order === 1) hosts.reverse();
      const { status, refusal } = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", ...hosts]);
      assert.deepEqual([status, refusal], [403, "host_not_allowed"]);
    }
    assert.deepEqual(done(), NOTHING);
  });
}

test("a request without a Host is refused: with 400 by Node in HTTP/1.1 (RFC 9112 section 3.2), with 403 in HTTP/1.0", async (t) => {
  const { gate, done } = await openGate(t);
  assert.equal((await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1"])).status, 400);
  const old = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.0"]);
  assert.deepEqual([old.status, old.refusal], [403, "host_not_allowed"]);
  assert.deepEqual(done(), NOTHING);
});

test("a target in absolute form that names another host is refused although the Host is our own", async (t) => {
  const gate = await openRespondingGate(t);
  const lines = ["GET http://evil.example/v1/models HTTP/1.1", `Host: 127.0.0.1:${gate.port}`];
  assert.equal((await exchangeRaw(t, gate.port, lines)).refusal, "not_found");
});

test("the Host of every request on a connection is checked", async (t) => {
  const gate = await openRespondingGate(t);
  const client = await sendRaw(
    t,
    gate.port,
    `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`,
  );
  await client.until(/^HTTP\/1\.1 200 [^]*\{\}$/);
  client.write("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  await client.until(/\{\}HTTP\/1\.1 403 [^]*host_not_allowed/);
});

test("a request of another user with a foreign Host is refused for its Host", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithEmptyJson, {
    peers: peersOf(12_345),
  });
  const lines = ["GET /v1/models HTTP/1.1", "Host: evil.example"];
  assert.equal((await exchangeRaw(t, gate.port, lines)).refusal, "host_not_allowed");
});

test("a pipelined request with a foreign Host is refused for its Host", async (t) => {
  const { upstream, held, gate } = await startGateWithHeldUpstream(t);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  client.write("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  await waitUntilHandled(gate);
  response.end();
  // The refusal follows the response that was in progress.
  await client.until(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 403 [^]*host_not_allowed/);
  assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
});

test("during shutdown a request with a foreign Host is refused for its Host", async (t) => {
  const { gate, done } = await openGate(t);
  await gate.gate.drain();
  const { refusal } = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", "Host: evil.example"]);
  assert.equal(refusal, "host_not_allowed");
  assert.deepEqual(done(), NOTHING);
});
