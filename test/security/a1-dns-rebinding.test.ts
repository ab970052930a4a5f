// A1, DNS rebinding: whatever a request asks for, it is refused with 403 before anything else unless its Host is exactly one of our own names with our port.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { waitUntilHandled, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { peersOf } from "../helpers/gate/memory.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { FOREIGN_HOSTS } from "./foreign-hosts.ts";
import { startGateWithUpstream, startGateWithHeldUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** A gate that counts what it does beyond judging. */
async function openGate(t: TestContext) {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
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

/** A gate whose upstream would answer. */
async function openGateToAnyone(t: TestContext): Promise<TestGate> {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
  return startGate(t, upstream.baseUrl);
}

for (const host of FOREIGN_HOSTS) {
  test(`Host ${JSON.stringify(host)} is refused, and nothing is done for it`, async (t) => {
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
  test(`Host ${JSON.stringify(host)} is let in`, async (t) => {
    const gate = await openGateToAnyone(t);
    const field = `Host: ${host.replace("PORT", String(gate.port))}`;
    assert.equal((await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", field])).status, 200);
  });
}

/** Each has a fault of its own, or would be answered here, or by Node; the Host is judged before any of it. */
const REQUESTS: Record<string, string[]> = {
  "the page": ["GET / HTTP/1.1"],
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
  "a page's own origin": ["GET /v1/models HTTP/1.1", "Origin: http://evil.example"],
  "a WebSocket": ["GET /v1/responses HTTP/1.1", "Connection: Upgrade, close", "Upgrade: websocket"],
  "a POST of no type": ["POST /v1/messages HTTP/1.1"],
  "a body beyond the limit": ["POST /v1/messages HTTP/1.1", "Content-Type: application/json"],
  "a client that waits for 100": [
    "POST /v1/messages HTTP/1.1",
    "Content-Type: application/json",
    "Expect: 100-continue",
  ],
  "an expectation that nobody knows": ["POST /v1/messages HTTP/1.1", "Expect: something"],
  "HTTP/1.0": ["GET /v1/models HTTP/1.0"],
  "a forwarded host of our own": [
    "GET /v1/models HTTP/1.1",
    "X-Forwarded-Host: 127.0.0.1:PORT",
    "Forwarded: host=127.0.0.1:PORT",
    "X-Host: 127.0.0.1:PORT",
  ],
};

for (const [what, lines] of Object.entries(REQUESTS)) {
  test(`${what} under a foreign Host is refused for the Host alone`, async (t) => {
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
  test(`a second Host line, ${second}, is refused`, async (t) => {
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

test("no Host line at all is refused: 400 by Node under HTTP/1.1 (RFC 9112 section 3.2), 403 under 1.0", async (t) => {
  const { gate, done } = await openGate(t);
  assert.equal((await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1"])).status, 400);
  const old = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.0"]);
  assert.deepEqual([old.status, old.refusal], [403, "host_not_allowed"]);
  assert.deepEqual(done(), NOTHING);
});

test("a Host of ours does not lend itself to a target that names another", async (t) => {
  const gate = await openGateToAnyone(t);
  const lines = ["GET http://evil.example/v1/models HTTP/1.1", `Host: 127.0.0.1:${gate.port}`];
  assert.equal((await exchangeRaw(t, gate.port, lines)).refusal, "not_found");
});

test("each request on a connection is judged, not only the first", async (t) => {
  const gate = await openGateToAnyone(t);
  const client = await sendRaw(
    t,
    gate.port,
    `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`,
  );
  await client.until(/^HTTP\/1\.1 200 [^]*\{\}$/);
  client.write("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  await client.until(/\{\}HTTP\/1\.1 403 [^]*host_not_allowed/);
});

test("another user's process is refused for its Host before it is for being another's", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}), {
    peers: peersOf(12_345),
  });
  const lines = ["GET /v1/models HTTP/1.1", "Host: evil.example"];
  assert.equal((await exchangeRaw(t, gate.port, lines)).refusal, "host_not_allowed");
});

test("a request on a connection that is still taken is refused for its Host, not for that", async (t) => {
  const { upstream, held, gate } = await startGateWithHeldUpstream(t);
  const client = await sendRaw(t, gate.port);
  const answer = await held;
  client.write("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  await waitUntilHandled(gate);
  answer.end();
  // Its answer comes behind the one that was under way.
  await client.until(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 403 [^]*host_not_allowed/);
  assert.deepEqual([upstream.seen.length, gate.ledger.records.length], [1, 1]);
});

test("while the daemon stops, too, the Host is what is judged first", async (t) => {
  const { gate, done } = await openGate(t);
  await gate.gate.drain();
  const { refusal } = await exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", "Host: evil.example"]);
  assert.equal(refusal, "host_not_allowed");
  assert.deepEqual(done(), NOTHING);
});
