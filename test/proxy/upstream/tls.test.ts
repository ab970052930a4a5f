import assert from "node:assert/strict";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { openPool, sendGet, waitForRelease } from "../../helpers/client/pool.ts";
import { rawClient } from "../../helpers/client/raw-client.ts";
import { post, startGate, type TestGate } from "../../helpers/gate/gate.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";
import { startTrustedUpstream } from "../../helpers/upstream/trusted-tls.ts";
import { countConnections } from "../count-connections.ts";

/** The bytes of a request without a body. */
const getModels = (port: number) => `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  test(`a second connection resumes the ${version} session of the first`, async (t) => {
    const upstream = await startTrustedUpstream(t, { minVersion: version, maxVersion: version });
    const { pool } = openPool(t, upstream.origin);
    for (let i = 0; i < 3; i += 1) {
      const socket = (await waitForRelease(sendGet(pool))) as TLSSocket;
      assert.equal(socket.getProtocol(), version);
      socket.destroy();
    }
    assert.deepEqual(upstream.resumed, [false, true, true]);
  });

  test(`a ${version} session that the upstream has forgotten leads to a full handshake and no error`, async (t) => {
    const upstream = await startTrustedUpstream(t, { minVersion: version, maxVersion: version });
    const { pool } = openPool(t, upstream.origin);
    (await waitForRelease(sendGet(pool))).destroy();
    upstream.server.setTicketKeys(randomBytes(48));
    (await waitForRelease(sendGet(pool))).destroy();
    await waitForRelease(sendGet(pool));
    assert.deepEqual(upstream.resumed, [false, false, true]);
  });
}

test("a TLS session is not offered again after a handshake with it has failed", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const { pool } = openPool(t, upstream.origin);
  (await waitForRelease(sendGet(pool))).destroy();
  upstream.server.prependOnceListener("connection", (socket) => socket.destroy());
  await assert.rejects(waitForRelease(sendGet(pool)), { code: "ECONNRESET" });
  await waitForRelease(sendGet(pool));
  assert.deepEqual(upstream.resumed, [false, false]);
});

test("the upstream connection is opened when a client connects, and its first request uses that connection", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const secured = once(upstream.server, "secureConnection");
  const client = await rawClient(t, gate.port);
  await secured;
  client.write(getModels(gate.port));
  await client.until(/\{\}$/);
  assert.deepEqual([upstream.resumed.length, upstream.requests], [1, 1]);
});

test("a request that arrives during the handshakes waits for that connection and opens no other", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  assert.deepEqual([upstream.resumed.length, upstream.requests], [1, 1]);
});

test("clients that connect and send nothing that is forwarded cost one upstream connection, even after it was closed", async (t) => {
  const upstream = await startTrustedUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const secured = once(upstream.server, "secureConnection");
  for (let i = 0; i < 5; i += 1) (await rawClient(t, gate.port)).socket.destroy();
  const [socket] = (await secured) as [TLSSocket];
  socket.destroy();
  for (let i = 0; i < 5; i += 1) assert.equal((await fetch(gate.url, { method: "HEAD" })).status, 200);
  assert.equal(upstream.resumed.length, 1);
});

for (const [state, stop] of [
  ["is draining", ({ gate }: TestGate) => gate.drain()],
  ["is closed", ({ gate }: TestGate) => gate.close()],
] as const) {
  test(`a client that connects to a gate that ${state} causes no upstream connection`, async (t) => {
    const upstream = await startTrustedUpstream(t);
    const connections = countConnections(upstream.server);
    const gate = await startGate(t, upstream.baseUrl);
    await stop(gate);
    assert.equal((await fetch(gate.url, { method: "HEAD" })).status, 200);
    assert.equal(connections(), 0);
  });
}

test("a request whose handshake breaks off is refused with 502 as not sent", async (t) => {
  const { port, first } = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, `https://127.0.0.1:${port}/v1`);
  const response = post(gate, "/v1/messages", {});
  const upstream = await first;
  while (gate.gate.openExchanges === 0) await setImmediate();
  upstream.resetAndDestroy();
  const res = await response;
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.match(await res.text(), /tollkeeper cannot reach upstream /);
});

test("a connection opened ahead of a request that fails is not logged, and the request opens its own", async (t) => {
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
  client.write(getModels(gate.port));
  await client.until(/\{\}$/);
  assert.deepEqual([upstream.resumed, gate.log.lines], [[false], []]);
});
