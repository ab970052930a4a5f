// A8, other users of the machine: the kernel is asked once per connection, in batches and without delaying anyone, whose process is
// at the other end. Every user except our own, root and the listed ones is refused.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../src/tools/all.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import type { PeerInfo } from "../../src/ports.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate, type GateOptions, type TestGate } from "../helpers/gate/gate.ts";
import { diagnosticsMissing } from "../helpers/process/diagnostics-missing.ts";
import { WITH_DIAGNOSTICS } from "../helpers/process/diagnostics-socket.ts";
import { failTableReads, interceptTableReads } from "../helpers/process/socket-tables.ts";
import { MemoryTokens, peersOf, ManualClock } from "../helpers/gate/memory.ts";
import { asUser, curlAs, NOBODY, noDaemonAs, noOtherUser } from "../helpers/process/other-user.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const notLinux = process.platform !== "linux" && "needs Linux: other systems do not tell";

const OTHER_UID = 65_533;

/** The status of a refusal that no retry can help, on a route that is not of the Messages API. */
const REFUSED = 400;

async function openGate(t: TestContext, options: GateOptions) {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  return { upstream, gate: await startGate(t, upstream.baseUrl, options) };
}

/** The status of a request by the user's process to each loopback address. */
async function statusesFor(uid: number, port: number): Promise<number[]> {
  const hosts = ["127.0.0.1", "[::1]"];
  const asked = hosts.map((host) => curlAs(uid, `http://${host}:${port}/v1/models`));
  return (await Promise.all(asked)).map(({ status }) => status);
}

test(
  "a client of another user is refused on both loopback addresses, and one of our own user is served",
  { skip: noOtherUser },
  async (t) => {
    const { upstream, gate } = await openGate(t, { peers: createPeerInfo(PROCESS_SIGNATURES) });
    assert.deepEqual(await statusesFor(NOBODY, gate.port), [REFUSED, REFUSED]);
    assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
    assert.deepEqual(await statusesFor(0, gate.port), [200, 200]);
  },
);

test(
  "a gate that does not run as root admits its owner and root, and nobody else",
  { skip: noOtherUser },
  async (t) => {
    const { upstream, gate } = await openGate(t, {
      peers: createPeerInfo(PROCESS_SIGNATURES),
      ownUid: NOBODY,
    });
    assert.deepEqual(await statusesFor(OTHER_UID, gate.port), [REFUSED, REFUSED]);
    assert.equal(upstream.seen.length, 0);
    assert.deepEqual(await statusesFor(NOBODY, gate.port), [200, 200]);
    assert.deepEqual(await statusesFor(0, gate.port), [200, 200]);
  },
);

for (const [source, launcher, skip] of [
  ["the kernel's tables", [], noOtherUser],
  ["the kernel's diagnostics", WITH_DIAGNOSTICS, noOtherUser || diagnosticsMissing()],
] as const)
  test(`a daemon that asks ${source} refuses another user's client and logs the uid`, { skip }, async (t) => {
    const daemon = await startDaemon(t, { launcher: [...launcher] });
    const url = `${daemon.url}/v1/models`;
    const { status, body } = await curlAs(NOBODY, url);
    assert.equal(status, REFUSED);
    assert.match(
      body,
      /this port belongs to another user\. .* a daemon of your own.* Type: tollkeeper config edit/,
    );
    await daemon.waitForOutput(
      new RegExp(`"uid":${NOBODY},"msg":"refused a connection from another user of this machine"`),
    );
    assert.equal((await fetch(url)).status, 200);
    assert.deepEqual((await daemon.ledger()).length, 1);
  });

test(
  "a daemon of another user serves that user and root, and refuses all others",
  { skip: noDaemonAs(NOBODY) },
  async (t) => {
    const daemon = await startDaemon(t, { launcher: asUser(NOBODY) });
    assert.deepEqual(await statusesFor(NOBODY, daemon.port), [200, 200]);
    assert.deepEqual(await statusesFor(OTHER_UID, daemon.port), [REFUSED, REFUSED]);
    assert.deepEqual(await statusesFor(0, daemon.port), [200, 200]);
    await daemon.waitForOutput(
      new RegExp(`"uid":${OTHER_UID},"msg":"refused a connection from another user`),
    );
    assert.equal((await daemon.ledger()).length, 4);
  },
);

const allow = (...peerUid: number[]) => ({ config: { access: { mode: "open" as const, peerUid } } });

test(
  "a listed user is admitted besides our own and root, and others are not",
  { skip: noOtherUser },
  async (t) => {
    const { gate } = await openGate(t, {
      ...allow(NOBODY),
      peers: createPeerInfo(PROCESS_SIGNATURES),
      ownUid: 12_345,
    });
    assert.deepEqual(await statusesFor(NOBODY, gate.port), [200, 200]);
    assert.deepEqual(await statusesFor(OTHER_UID, gate.port), [REFUSED, REFUSED]);
    assert.deepEqual(await statusesFor(0, gate.port), [200, 200]);
  },
);

test("changes of the listed users apply to the next connection", async (t) => {
  const { gate } = await openGate(t, { peers: peersOf(12_345) });
  const status = async () =>
    (await fetch(`${gate.url}/v1/models`, { headers: { connection: "close" } })).status;
  const { config } = gate.gate.settings;
  const use = (...uids: number[]) => gate.gate.use(prepareSettings({ ...config, ...allow(...uids).config }));
  assert.equal(await status(), REFUSED);
  use(12_345);
  assert.equal(await status(), 200);
  use(12_346);
  assert.equal(await status(), REFUSED);
});

test("a user who is no longer listed is refused on connections that are open, too", async (t) => {
  const { gate, upstream } = await openGate(t, { peers: peersOf(12_345), ...allow(12_345) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const status = async () => {
    const [response] = (await once(get(`${gate.url}/v1/models`, { agent }), "response")) as [IncomingMessage];
    ports.add(response.socket.localPort);
    response.resume();
    await once(response, "end");
    return response.statusCode;
  };
  assert.equal(await status(), 200);
  const { config } = gate.gate.settings;
  gate.gate.use(prepareSettings({ ...config, ...allow(12_346).config }));
  assert.equal(await status(), REFUSED);
  assert.equal(ports.size, 1);
  assert.equal(upstream.seen.length, 1);
});

test("a local token does not admit another user", async (t) => {
  const tokens = new MemoryTokens();
  const headers = { "x-api-key": tokens.add("codex") };
  const config = { access: { mode: "token" as const, peerUid: [] } };
  const { gate } = await openGate(t, { peers: peersOf(12_345), tokens, config });
  const res = await fetch(`${gate.url}/v1/models`, { headers });
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [REFUSED, "peer_not_allowed"]);
});

test("a daemon admits a user once its configuration lists the uid", { skip: noOtherUser }, async (t) => {
  const daemon = await startDaemon(t);
  const url = `${daemon.url}/v1/models`;
  const { body } = await curlAs(NOBODY, url);
  assert.match(body, /ask the port's owner to list your uid in \\"access\.peerUid\\"/);
  const config = { listen: { port: daemon.port }, access: { peerUid: [NOBODY] } };
  writeFileSync(daemon.configFile, JSON.stringify(config));
  await daemon.waitForOutput(/the new configuration is in force/);
  assert.equal((await curlAs(NOBODY, url)).status, 200);
  assert.equal((await curlAs(OTHER_UID, url)).status, REFUSED);
  const { stdout } = await daemon.command("status");
  assert.match(stdout, new RegExp(`^ +other users admitted, by uid: ${NOBODY}$`, "m"));
});

/** Any uid except root and nobody. In a user namespace of its own, as systemd makes one with `PrivateUsers=yes`. */
const DAEMON_UID = 12_345;
const IN_USER_NAMESPACE = [...asUser(DAEMON_UID), "unshare", "--user", "--map-current-user"];

test(
  "in the service's sandbox no other user is admitted, listed or not, and the overflow uid is not logged",
  { skip: noDaemonAs(DAEMON_UID, "unshare", "--user", "--map-current-user") },
  async (t) => {
    const access = { peerUid: [NOBODY, OTHER_UID] };
    const daemon = await startDaemon(t, { config: { access }, launcher: IN_USER_NAMESPACE });
    for (const uid of [NOBODY, OTHER_UID])
      assert.deepEqual(await statusesFor(uid, daemon.port), [REFUSED, REFUSED]);
    assert.deepEqual(await statusesFor(DAEMON_UID, daemon.port), [200, 200]);
    const output = await daemon.waitForOutput(/whose uid is hidden in the sandbox/);
    assert.match(
      output,
      /access\.peerUid.{0,4} has no effect in the sandbox; to leave it, type: tollkeeper service install/,
    );
    assert.doesNotMatch(output, /"uid":/);
  },
);

test("another user's request is refused before its path, key or body is considered", async (t) => {
  const { upstream, gate } = await openGate(t, { peers: peersOf(12_345) });
  for (const path of ["/v1/models", "/nowhere", "/"]) {
    const res = await fetch(gate.url + path);
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [REFUSED, "peer_not_allowed"]);
    await res.text();
  }
  assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
});

test("refusals of other users are logged at most once a minute", async (t) => {
  const clock = new ManualClock();
  const { gate } = await openGate(t, { peers: peersOf(12_345), clock });
  const ask = async () => (await fetch(`${gate.url}/v1/models`)).text();
  const logged = () => gate.log.lines.filter((line) => /^warn .*another user.*12345/.test(line)).length;
  for (let i = 0; i < 5; i += 1) await ask();
  clock.advance(59_999);
  await ask();
  assert.equal(logged(), 1);
  clock.advance(1);
  await ask();
  assert.equal(logged(), 2);
});

for (const code of ["EMFILE", "ENFILE", "ENOMEM", "EIO"]) {
  test(
    `while the socket tables cannot be read (${code}) every client is refused`,
    { skip: notLinux },
    async (t) => {
      failTableReads(t, code);
      const { upstream, gate } = await openGate(t, { peers: createPeerInfo(PROCESS_SIGNATURES) });
      const res = await fetch(`${gate.url}/v1/models`);
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [REFUSED, "peer_not_allowed"]);
      assert.equal(upstream.sockets.size + gate.keys.reads, 0);
    },
  );
}

test("where the system cannot tell users apart, every client on loopback is admitted, as the README says", async (t) => {
  const { gate } = await openGate(t, { peers: peersOf(null) });
  assert.equal((await fetch(`${gate.url}/v1/models`)).status, 200);
});

/** Counts the look-ups of connections. */
function countLookUps(peers: PeerInfo, onLookUp: (count: number) => void): PeerInfo {
  let count = 0;
  return {
    lookUp(...ends) {
      count += 1;
      onLookUp(count);
      return peers.lookUp(...ends);
    },
  };
}

test("a connection is looked up once, however many requests it carries", async (t) => {
  let lookUps = 0;
  const peers = countLookUps(peersOf(null), (count) => (lookUps = count));
  const { gate } = await openGate(t, { peers });
  const client = await rawClient(t, gate.port);
  const send = (n: number) => {
    client.write(requestTo(gate.port));
    return client.until(responsesPattern(n));
  };
  // The first request also reads the key, and then checks whether the client is still connected.
  await send(1);
  const before = lookUps;
  for (const n of [2, 3, 4]) await send(n);
  assert.equal(lookUps, before);
});

test(
  "nothing is read from a connection before the system has told its owner",
  { timeout: 300_000 },
  async (t) => {
    const { promise: ownerUid, resolve: tellOwner } = withResolvers<number>();
    const { promise: asked, resolve: onAsked } = withResolvers<void>();
    let isFirst = true;
    const lookUp: PeerInfo["lookUp"] = async (...ends) => {
      const isStranger = isFirst;
      isFirst = false;
      if (isStranger) onAsked();
      return peersOf(isStranger ? await ownerUid : null).lookUp(...ends);
    };
    const sockets: Socket[] = [];
    const onSocket = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    t.after(() => unsubscribe("net.server.socket", onSocket));
    const { gate } = await openGate(t, { peers: { lookUp } });
    const stranger = await rawClient(t, gate.port);
    stranger.write(`POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n`);
    await asked;
    // Enough turns of the event loop to read those bytes.
    for (let i = 0; i < 3; i += 1) assert.equal((await fetch(`${gate.url}/v1/models`)).status, 200);
    assert.equal(sockets.find(({ remotePort }) => remotePort === stranger.socket.localPort)?.bytesRead, 0);
    tellOwner(12_345);
    stranger.write("Content-Type: application/json\r\nContent-Length: 5\r\n\r\n");
    await stranger.until(/^HTTP\/1\.1 402 [^]*peer_not_allowed/);
  },
);

test(
  "a connection of another user is looked up once, refused and closed",
  { timeout: 300_000 },
  async (t) => {
    let lookUps = 0;
    const peers = countLookUps(peersOf(12_345), (count) => (lookUps = count));
    const { gate } = await openGate(t, { peers });
    const client = await sendRaw(t, gate.port, requestTo(gate.port) + requestTo(gate.port));
    assert.match(await client.closed, /^HTTP\/1\.1 400 [^]*peer_not_allowed/);
    assert.equal(lookUps, 1);
  },
);

const CLOSED_AFTER_MS = 1_000;

for (const [what, bytes] of [
  ["sends nothing", ""],
  ["sends half a head", "GET /v1/models HTTP/1.1\r\nHost: 127"],
] as const) {
  test(
    `a connection of another user that ${what} is closed after a second`,
    { timeout: 300_000 },
    async (t) => {
      t.mock.timers.enable({ apis: ["setTimeout"] });
      const { gate } = await openGate(t, { peers: peersOf(12_345) });
      const client = await rawClient(t, gate.port);
      client.write(bytes);
      await untilRefused(gate);
      t.mock.timers.tick(CLOSED_AFTER_MS);
      assert.equal(await client.closed, "");
    },
  );
}

test(
  "a request that another user sends within that second is told why it is refused",
  { timeout: 300_000 },
  async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { gate } = await openGate(t, { peers: peersOf(12_345) });
    const client = await rawClient(t, gate.port);
    await untilRefused(gate);
    t.mock.timers.tick(CLOSED_AFTER_MS - 1);
    client.write(requestTo(gate.port));
    assert.match(await client.closed, /^HTTP\/1\.1 400 [^]*peer_not_allowed[^]*^connection: close\r$/im);
  },
);

test("an idle connection of our own user stays open", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { gate } = await openGate(t, { peers: peersOf(process.getuid?.() ?? null) });
  const client = await rawClient(t, gate.port);
  client.write(requestTo(gate.port));
  await client.until(responsesPattern(1));
  t.mock.timers.tick(10 * CLOSED_AFTER_MS);
  client.write(requestTo(gate.port));
  await client.until(responsesPattern(2));
});

/** Connects, sends nothing and ends when the connection is closed. */
const IDLE_CLIENT = `require("node:net").connect(Number(process.argv[1]), "127.0.0.1").resume();`;

test(
  "a process of another user that connects and sends nothing is cut off after a second",
  { skip: noOtherUser, timeout: 300_000 },
  async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { gate } = await openGate(t, { peers: createPeerInfo(PROCESS_SIGNATURES) });
    const options = { uid: NOBODY, gid: NOBODY, cwd: "/", stdio: "ignore" } as const;
    const child = spawn(process.execPath, ["-e", IDLE_CLIENT, String(gate.port)], options);
    t.after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await untilRefused(gate);
    t.mock.timers.tick(CLOSED_AFTER_MS);
    assert.deepEqual(await ended, [0, null]);
  },
);

/** Resolves when the gate has refused a connection. The clock may be held meanwhile. */
async function untilRefused({ log }: TestGate): Promise<void> {
  while (!log.lines.some((line) => line.startsWith("warn refused a connection from another user")))
    await setImmediate();
}

function requestTo(port: number): string {
  return `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
}

/** Matches what a client has received after `n` responses. */
function responsesPattern(n: number): RegExp {
  return new RegExp(`^(?:HTTP/1\\.1 200 [^]*?\\r\\n\\r\\n\\{\\}){${n}}$`);
}

const NEW_CONNECTIONS = 200;

/** Holds all reads of the kernel's tables until they are released, and counts them. */
function holdTableReads(t: TestContext) {
  let count = 0;
  const { promise: released, resolve: release } = withResolvers<void>();
  interceptTableReads(t, () => {
    count += 1;
    return released;
  });
  return { count: () => count, release };
}

test(
  `${NEW_CONNECTIONS} new connections at once take a few reads of the tables and delay no connection that is already admitted`,
  { skip: notLinux, timeout: 300_000 },
  async (t) => {
    let asked = 0;
    const { promise: allPending, resolve: allAsked } = withResolvers<void>();
    const peers = countLookUps(createPeerInfo(PROCESS_SIGNATURES), () => {
      asked += 1;
      if (asked === NEW_CONNECTIONS) allAsked();
    });
    const { gate } = await openGate(t, { peers });
    const known = await rawClient(t, gate.port);
    known.write(requestTo(gate.port));
    await known.until(responsesPattern(1));

    asked = 0;
    const readings = holdTableReads(t);
    const clients = await Promise.all(Array.from({ length: NEW_CONNECTIONS }, () => rawClient(t, gate.port)));
    for (const client of clients) client.write(requestTo(gate.port));
    await allPending;
    // A connection that is not admitted yet would get no response before the reads are released.
    known.write(requestTo(gate.port));
    await known.until(responsesPattern(2));
    readings.release();
    await Promise.all(clients.map((client) => client.until(responsesPattern(1))));

    // One reading for all, one for those whose rows it had passed, and some for rows that a reading missed.
    assert.ok(readings.count() >= 1 && readings.count() <= 5, `${readings.count()} readings`);
  },
);
