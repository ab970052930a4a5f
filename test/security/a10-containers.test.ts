// A10, containers and virtual machines: host.docker.internal is a foreign Host and a container's user is another user unless they are
// configured. No setting makes tollkeeper listen beyond loopback.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { MemoryTokens, peersOf } from "../helpers/gate/memory.ts";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";

/** The names that Docker, Podman, Lima and WSL give to the host. */
const HOST_NAMES = [
  "host.docker.internal",
  "gateway.docker.internal",
  "host.containers.internal",
  "host.lima.internal",
  "wsl.localhost",
];

/** Opens a gate that allows these hosts besides its own. Requests have the local token that a name of theirs needs (A16). */
async function openGate(t: TestContext, allowedHosts: string[]) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const config = { listen: { ...defaultConfig.listen, allowedHosts } };
  const tokens = new MemoryTokens();
  const credential = `Authorization: Bearer ${tokens.add("codex")}`;
  const gate = await startGate(t, upstream.baseUrl, { config, tokens });
  const ask = (host: string) =>
    exchangeRaw(t, gate.port, ["GET /v1/models HTTP/1.1", `Host: ${host}`, credential]);
  return { upstream, gate, ask };
}

for (const name of HOST_NAMES) {
  test(`${name} is a foreign Host by default and admitted once it is listed`, async (t) => {
    const { upstream, gate, ask } = await openGate(t, []);
    for (const host of [name, `${name}:${gate.port}`]) {
      const { status, refusal, text } = await ask(host);
      assert.deepEqual([status, refusal], [403, "host_not_allowed"]);
      assert.match(text, /listen\.allowedHosts/);
    }
    assert.equal(upstream.seen.length, 0);
    const opened = await openGate(t, [name, `${name}:8655`]);
    for (const host of [name, `${name}:8655`, name.toUpperCase()]) {
      assert.equal((await opened.ask(host)).status, 200);
    }
  });
}

test("a listed host is admitted exactly as listed, and similar names are not", async (t) => {
  const { upstream, ask } = await openGate(t, ["host.docker.internal:8655"]);
  for (const host of [
    "host.docker.internal",
    "host.docker.internal:8656",
    "host.docker.internal:8655.evil.com",
    "evil.host.docker.internal:8655",
    "docker.internal:8655",
    "host.docker.internal.:8655",
    "gateway.docker.internal:8655",
  ]) {
    assert.equal((await ask(host)).refusal, "host_not_allowed", host);
  }
  assert.equal(upstream.seen.length, 0);
});

test("a container's user is refused by the uid outside the container, and admitted when that is listed", async (t) => {
  const inside = peersOf(100_999);
  const upstream = await startUpstream(t, respondWithEmptyJson);
  for (const [peerUid, status] of [
    [[], 400],
    [[999], 400],
    [[1000, 100_999], 200],
  ] as const) {
    const config = { access: { mode: "open" as const, peerUid: [...peerUid] } };
    const gate = await startGate(t, upstream.baseUrl, { config, peers: inside });
    assert.equal((await fetch(`${gate.url}/v1/models`)).status, status);
  }
});

/** Names of the setting for the listening address in other servers. */
const SETTINGS = ["host", "hostname", "address", "addresses", "bind", "interface", "unsafeListen", "public"];

test("a setting that would change the listening address is refused, and a running daemon keeps its addresses", async (t) => {
  const daemon = await startDaemon(t);
  const elsewhere = Object.fromEntries(SETTINGS.map((name) => [name, "0.0.0.0"]));
  writeFileSync(
    daemon.configFile,
    JSON.stringify({ listen: { port: daemon.port, ...elsewhere }, ...elsewhere }),
  );
  await daemon.waitForOutput(/the new configuration cannot be applied; still using the old one/);
  const { listening, config } = await daemon.status();
  assert.deepEqual(listening, [`127.0.0.1:${daemon.port}`, `[::1]:${daemon.port}`]);
  const refused = config.problems.map(({ path }) => path).toSorted();
  assert.deepEqual(refused, [...SETTINGS, ...SETTINGS.map((name) => `listen.${name}`)].toSorted());
});

test("a port with an address is refused", async (t) => {
  const config = JSON.stringify({ listen: { port: "0.0.0.0:8655" } });
  await assert.rejects(startDaemon(t, { config }), /the configuration is not usable[^]*listen\.port/);
});

test("serve has no option that changes the listening address", async (t) => {
  for (const option of ["--host", "--listen", "--address"]) {
    await assert.rejects(
      startDaemon(t, { args: [`${option}=0.0.0.0`] }),
      new RegExp(`error: there is no option ${option}\\b`),
    );
  }
});
