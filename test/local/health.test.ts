import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Health } from "../../src/core/health.ts";
import { rmSync } from "node:fs";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { post } from "../helpers/gate/gate.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { peersOf } from "../helpers/gate/memory.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";

const PATH = "/_tollkeeper/healthz";
const OWN = process.getuid?.() ?? 0;

const start = (t: TestContext, options = {}) =>
  startGateWithUpstream(t, respondWithMessage, { peers: peersOf(OWN), ...options });

for (const [health, status] of [
  ["ok", 200],
  ["starting", 503],
  ["keys", 503],
] as const) {
  test(`a health check gets ${status} while the daemon's health is ${health}, and leaves no record`, async (t) => {
    const { upstream, gate } = await start(t, { health: () => health });
    const res = await fetch(gate.url + PATH);
    assert.deepEqual([res.status, await res.text()], [status, `${health}\n`]);
    assert.equal(res.headers.get("cache-control"), "no-store");
    assert.equal(upstream.seen.length + gate.ledger.records.length, 0);
  });
}

test("HEAD gets the same without a body, and a health check needs no token", async (t) => {
  const { gate } = await start(t, { config: { access: { mode: "token", peerUid: [] } } });
  const res = await fetch(gate.url + PATH, { method: "HEAD" });
  assert.deepEqual([res.status, res.headers.get("content-length"), await res.text()], [200, "3", ""]);
});

test("where the system cannot tell who asks, a health check gets no reason", async (t) => {
  const { gate } = await start(t, { peers: peersOf(null), health: (): Health => "keys" });
  const res = await fetch(gate.url + PATH);
  assert.deepEqual([res.status, await res.text()], [503, ""]);
});

test("another user, a web page and a name that is not ours get no health", async (t) => {
  const stranger = await start(t, { peers: peersOf(12_345) });
  assert.equal((await fetch(stranger.gate.url + PATH)).status, 400);
  const { gate } = await start(t);
  const page = await fetch(gate.url + PATH, { headers: { origin: "https://evil.example" } });
  assert.equal(page.status, 403);
  const client = await sendRaw(t, gate.port, `GET ${PATH} HTTP/1.1\r\nhost: evil.example\r\n\r\n`);
  await client.until(/^HTTP\/1\.1 4\d\d /);
});

test("a health check with another method is refused", async (t) => {
  const { gate } = await start(t);
  assert.equal((await fetch(gate.url + PATH, { method: "DELETE" })).status, 404);
});

test("a daemon without its key says so to health checks", async (t) => {
  const { daemon, keyFile } = await startDaemonWithUpstream(t);
  const check = async () => (await fetch(daemon.url + PATH)).text();
  assert.equal(await check(), "ok\n");
  rmSync(keyFile.path);
  await (await post(daemon, "/v1/messages", {})).text();
  assert.equal(await check(), "keys\n");
});
