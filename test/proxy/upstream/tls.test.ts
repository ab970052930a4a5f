import assert from "node:assert/strict";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { post, startGate, type TestGate } from "../../helpers/gate/gate.ts";
import { answered, ask, openPool } from "../../helpers/client/pool.ts";
import { rawClient } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { startTrustedUpstream } from "../../helpers/upstream/trusted-tls.ts";

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`a second connection resumes the session of the first with ${version}`, async (t) => {
    const upstream = await startTrustedUpstream(t, { minVersion: version, maxVersion: version });
    const { pool } = openPool(t, upstream.origin);
    for (let i = 0; i < 3; i += 1) {
      const socket = (await answered(ask(pool))) as TLSSocket;
      assert.equal(socket.getProtocol(), version);
      socket.destroy();
    }
    assert.deepEqual(upstream.resumed, [false, true, true]);
  });

  test(`a session that the upstream has forgotten costs nothing but a whole handshake with ${version}`, async (t) => {
    const upstream = await startTrustedUpstream(t, { minVersion: version, maxVersion: version });
    const { pool } = openPool(t, upstream.origin);
    (await answered(ask(pool))).destroy();
    upstream.server.setTicketKeys(randomBytes(48));
    (await answered(ask(pool))).destroy();
    await answered(ask(pool));
    assert.deepEqual(upstream.resumed, [false, false, true]);
  });
}

test("a session is not offered again after a handshake with it has failed", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const { pool } = openPool(t, upstream.origin);
  (await answered(ask(pool))).destroy();
  upstream.server.prependOnceListener("connection", (socket) => socket.destroy());
  await assert.rejects(answered(ask(pool)), { code: "ECONNRESET" });
  await answered(ask(pool));
  assert.deepEqual(upstream.resumed, [false, false]);
});

test("the handshakes run as soon as a client has connected, and its request takes that connection", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const shaken = once(upstream.server, "secureConnection");
  const client = await rawClient(t, gate.port);
  await shaken;
  client.write(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
  await client.until(/\{\}$/);
  assert.deepEqual([upstream.resumed.length, upstream.requests], [1, 1]);
});

test("a request that comes within the handshakes waits for them", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  assert.deepEqual([upstream.resumed.length, upstream.requests], [1, 1]);
});

test("clients that connect and ask nothing cost one connection to the upstream", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const shaken = once(upstream.server, "secureConnection");
  for (let i = 0; i < 5; i += 1) (await rawClient(t, gate.port)).socket.destroy();
  const [socket] = (await shaken) as [TLSSocket];
  socket.destroy();
  for (let i = 0; i < 5; i += 1) assert.equal((await fetch(gate.url, { method: "HEAD" })).status, 200);
  assert.equal(upstream.resumed.length, 1);
});

for (const [what, stop] of [
  ["that stops", ({ gate }: TestGate) => gate.drain()],
  ["that has closed its connections", ({ gate }: TestGate) => gate.close()],
] as const) {
  test(`no connection is opened ahead for clients of a gate ${what}`, async (t) => {
    const upstream = await startTrustedUpstream(t);
    let connections = 0;
    upstream.server.on("connection", () => (connections += 1));
    const gate = await startGate(t, upstream.baseUrl);
    await stop(gate);
    assert.equal((await fetch(gate.url, { method: "HEAD" })).status, 200);
    assert.equal(connections, 0);
  });
}

test("a handshake that breaks off while a request waits for it: nothing was sent, and the client is told so", async (t) => {
  const { port, first } = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, `https://127.0.0.1:${port}/v1`);
  const answer = post(gate, "/v1/messages", {});
  const upstream = await first;
  while (gate.gate.openExchanges === 0) await setImmediate();
  upstream.resetAndDestroy();
  const res = await answer;
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.match(await res.text(), /cannot be reached/);
});

test("a connection opened ahead that fails is not told of, and the request makes its own", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const failed = new Promise<void>((resolve) => {
    upstream.server.prependOnceListener("connection", (socket) => {
      socket.once("close", () => resolve());
      socket.destroy();
    });
  });
  const client = await rawClient(t, gate.port);
  await failed;
  client.write(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
  await client.until(/\{\}$/);
  assert.deepEqual([upstream.resumed, gate.log.lines], [[false], []]);
});
