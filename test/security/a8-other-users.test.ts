// A8, other users of the machine: once per connection the kernel is asked, batched and without holding anyone up, whose process is at the other end, and every user but our own, root and those that are listed is refused.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../src/tools/all.ts";
import { prepareSettings } from "../../src/proxy/settings.ts";
import type { PeerInfo } from "../../src/ports.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate, type GateOptions } from "../helpers/gate/gate.ts";
import { failTableReads, interceptTableReads } from "../helpers/process/socket-tables.ts";
import { MemoryTokens, peersOf, ManualClock } from "../helpers/gate/memory.ts";
import { asUser, curlAs, NOBODY, noDaemonAs, noOtherUser } from "../helpers/process/other-user.ts";
import { rawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere the system does not tell";

const SOMEONE = 65_533;

async function openGate(t: TestContext, options: GateOptions) {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
  return { upstream, gate: await startGate(t, upstream.baseUrl, options) };
}

/** Status of a request that the user's process makes to each loopback address. */
async function statusesFor(uid: number, port: number): Promise<number[]> {
  const hosts = ["127.0.0.1", "[::1]"];
  const asked = hosts.map((host) => curlAs(uid, `http://${host}:${port}/v1/models`));
  return (await Promise.all(asked)).map(({ status }) => status);
}

test(
  "a client of another user is refused, whichever loopback address it takes; one of our own is not",
  { skip: noOtherUser },
  async (t) => {
    const { upstream, gate } = await openGate(t, { peers: createPeerInfo(PROCESS_SIGNATURES) });
    assert.deepEqual(await statusesFor(NOBODY, gate.port), [403, 403]);
    assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
    assert.deepEqual(await statusesFor(0, gate.port), [200, 200]);
  },
);

test(
  "of a gate that is not root's, its owner and root are let in, others not",
  { skip: noOtherUser },
  async (t) => {
    const { upstream, gate } = await openGate(t, {
      peers: createPeerInfo(PROCESS_SIGNATURES),
      ownUid: NOBODY,
    });
    assert.deepEqual(await statusesFor(SOMEONE, gate.port), [403, 403]);
    assert.equal(upstream.seen.length, 0);
    assert.deepEqual(await statusesFor(NOBODY, gate.port), [200, 200]);
    assert.deepEqual(await statusesFor(0, gate.port), [200, 200]);
  },
);

test("a daemon asks the kernel, and says in its log whom it refused", { skip: noOtherUser }, async (t) => {
  const daemon = await startDaemon(t);
  const url = `${daemon.url}/v1/models`;
  const { status, body } = await curlAs(NOBODY, url);
  assert.equal(status, 403);
  assert.match(body, /another user's daemon listens here; run your own/);
  await daemon.waitForOutput(
    new RegExp(`"uid":${NOBODY},"msg":"refused a connection of another user of this machine"`),
  );
  assert.equal((await fetch(url)).status, 200);
  assert.deepEqual((await daemon.ledger()).length, 1);
});

test(
  "a daemon of another user's serves that user, and refuses all others but root",
  { skip: noDaemonAs(NOBODY) },
  async (t) => {
    const daemon = await startDaemon(t, { launcher: asUser(NOBODY) });
    assert.deepEqual(await statusesFor(NOBODY, daemon.port), [200, 200]);
    assert.deepEqual(await statusesFor(SOMEONE, daemon.port), [403, 403]);
    assert.deepEqual(await statusesFor(0, daemon.port), [200, 200]);
    await daemon.waitForOutput(new RegExp(`"uid":${SOMEONE},"msg":"refused a connection of another user`));
    assert.equal((await daemon.ledger()).length, 4);
  },
);

const letIn = (...peerUid: number[]) => ({ config: { access: { mode: "open" as const, peerUid } } });

test(
  "a user who is listed is let in beside our own and root, others are not",
  { skip: noOtherUser },
  async (t) => {
    const { gate } = await openGate(t, {
      ...letIn(NOBODY),
      peers: createPeerInfo(PROCESS_SIGNATURES),
      ownUid: 12_345,
    });
    assert.deepEqual(await statusesFor(NOBODY, gate.port), [200, 200]);
    assert.deepEqual(await statusesFor(SOMEONE, gate.port), [403, 403]);
    assert.deepEqual(await statusesFor(0, gate.port), [200, 200]);
  },
);

test("a list of users counts for the next connection, also when it is taken back", async (t) => {
  const { gate } = await openGate(t, { peers: peersOf(12_345) });
  const status = async () =>
    (await fetch(`${gate.url}/v1/models`, { headers: { connection: "close" } })).status;
  const { config } = gate.gate.settings;
  const use = (...uids: number[]) => gate.gate.use(prepareSettings({ ...config, ...letIn(...uids).config }));
  assert.equal(await status(), 403);
  use(12_345);
  assert.equal(await status(), 200);
  use(12_346);
  assert.equal(await status(), 403);
});

test("a local token lets no other user in", async (t) => {
  const tokens = new MemoryTokens();
  const headers = { "x-api-key": tokens.add("codex") };
  const config = { access: { mode: "token" as const, peerUid: [] } };
  const { gate } = await openGate(t, { peers: peersOf(12_345), tokens, config });
  const res = await fetch(`${gate.url}/v1/models`, { headers });
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [403, "peer_not_allowed"]);
});

test("a daemon lets a listed user in once its configuration says so", { skip: noOtherUser }, async (t) => {
  const daemon = await startDaemon(t);
  const url = `${daemon.url}/v1/models`;
  const { body } = await curlAs(NOBODY, url);
  assert.match(body, /have its owner list your uid in \\"access\.peerUid\\"/);
  const config = { listen: { port: daemon.port }, access: { peerUid: [NOBODY] } };
  writeFileSync(daemon.configFile, JSON.stringify(config));
  await daemon.waitForOutput(/the new configuration is in force/);
  assert.equal((await curlAs(NOBODY, url)).status, 200);
  assert.equal((await curlAs(SOMEONE, url)).status, 403);
  const { stdout } = await daemon.command("status");
  assert.match(stdout, new RegExp(`^ +programs of other users are let in, by uid: ${NOBODY}$`, "m"));
});

/** Anybody but root and nobody; alone in a user namespace, as `PrivateUsers=yes` makes one for a service of the user's. */
const SOMEBODY = 12_345;
const ALONE = [...asUser(SOMEBODY), "unshare", "--user", "--map-current-user"];

test(
  "in the service's sandbox nobody else is let in, listed or not, and no uid is named that stands for all of them",
  { skip: noDaemonAs(SOMEBODY, "unshare", "--user", "--map-current-user") },
  async (t) => {
    const access = { peerUid: [NOBODY, SOMEONE] };
    const daemon = await startDaemon(t, { config: { access }, launcher: ALONE });
    for (const uid of [NOBODY, SOMEONE]) assert.deepEqual(await statusesFor(uid, daemon.port), [403, 403]);
    assert.deepEqual(await statusesFor(SOMEBODY, daemon.port), [200, 200]);
    const said = await daemon.waitForOutput(/which one is not told within the sandbox/);
    assert.match(said, /access\.peerUid.{0,4} counts for nothing here; type: tollkeeper service install/);
    assert.doesNotMatch(said, /"uid":/);
  },
);

test("another user's process is refused before its path, key or body is looked at", async (t) => {
  const { upstream, gate } = await openGate(t, { peers: peersOf(12_345) });
  for (const path of ["/v1/models", "/nowhere", "/"]) {
    const res = await fetch(gate.url + path);
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [403, "peer_not_allowed"]);
    await res.text();
  }
  assert.equal(upstream.seen.length + gate.keys.reads + gate.ledger.records.length, 0);
});

test("refusals of other users are logged once a minute", async (t) => {
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
    `tables that cannot be read just now (${code}) are no reason to let anyone in`,
    { skip: notLinux },
    async (t) => {
      failTableReads(t, code);
      const { upstream, gate } = await openGate(t, { peers: createPeerInfo(PROCESS_SIGNATURES) });
      const res = await fetch(`${gate.url}/v1/models`);
      assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [403, "peer_not_allowed"]);
      assert.equal(upstream.sockets.size + gate.keys.reads, 0);
    },
  );
}

test("where the system cannot tell, whoever reaches loopback is let in, as the README says", async (t) => {
  const { gate } = await openGate(t, { peers: peersOf(null) });
  assert.equal((await fetch(`${gate.url}/v1/models`)).status, 200);
});

/** What counts the questions that are asked about connections. */
function countQuestions(peers: PeerInfo, onQuestion: (count: number) => void): PeerInfo {
  let count = 0;
  return {
    lookUp(...ends) {
      count += 1;
      onQuestion(count);
      return peers.lookUp(...ends);
    },
  };
}

test("a connection is asked about once, however many requests come on it", async (t) => {
  let questions = 0;
  const peers = countQuestions(peersOf(null), (count) => (questions = count));
  const { gate } = await openGate(t, { peers });
  const client = await rawClient(t, gate.port);
  const ask = (n: number) => {
    client.write(requestTo(gate.port));
    return client.until(answers(n));
  };
  // The first one also reads the key, and then asks whether the client is still there.
  await ask(1);
  const before = questions;
  for (const n of [2, 3, 4]) await ask(n);
  assert.equal(questions, before);
});

test(
  "of a connection nothing is read before the system has said whose it is",
  { timeout: 10_000 },
  async (t) => {
    const { promise: told, resolve: tell } = withResolvers<number>();
    const { promise: asked, resolve: onAsked } = withResolvers<void>();
    let isFirst = true;
    const lookUp: PeerInfo["lookUp"] = async (...ends) => {
      const isStranger = isFirst;
      isFirst = false;
      if (isStranger) onAsked();
      return peersOf(isStranger ? await told : null).lookUp(...ends);
    };
    const sockets: Socket[] = [];
    const onSocket = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    t.after(() => unsubscribe("net.server.socket", onSocket));
    const { gate } = await openGate(t, { peers: { lookUp } });
    const stranger = await rawClient(t, gate.port);
    stranger.write(`POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n`);
    await asked;
    // Enough turns of the loop for those bytes to be read, were anyone to read them.
    for (let i = 0; i < 3; i += 1) assert.equal((await fetch(`${gate.url}/v1/models`)).status, 200);
    assert.equal(sockets.find(({ remotePort }) => remotePort === stranger.socket.localPort)?.bytesRead, 0);
    tell(12_345);
    stranger.write("Content-Type: application/json\r\nContent-Length: 5\r\n\r\n");
    await stranger.until(/^HTTP\/1\.1 403 [^]*peer_not_allowed/);
  },
);

test("a connection of another user is asked about once, and closed with its refusal", async (t) => {
  let questions = 0;
  const peers = countQuestions(peersOf(12_345), (count) => (questions = count));
  const { gate } = await openGate(t, { peers });
  const client = await sendRaw(t, gate.port, requestTo(gate.port) + requestTo(gate.port));
  assert.match(await client.closed, /^HTTP\/1\.1 403 [^]*peer_not_allowed/);
  assert.equal(questions, 1);
});

function requestTo(port: number): string {
  return `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
}

/** Matches what a connection has received when `n` requests on it have been answered. */
function answers(n: number): RegExp {
  return new RegExp(`^(?:HTTP/1\\.1 200 [^]*?\\r\\n\\r\\n\\{\\}){${n}}$`);
}

const NEW_CONNECTIONS = 200;

/** Holds every reading of the kernel's tables up until it is let go, and counts them. */
function holdReadings(t: TestContext) {
  let count = 0;
  const { promise: held, resolve: letGo } = withResolvers<void>();
  interceptTableReads(t, () => {
    count += 1;
    return held;
  });
  return { count: () => count, letGo };
}

test(
  `${NEW_CONNECTIONS} new connections at once cost a handful of readings, and hold up nobody who is let in already`,
  { skip: notLinux, timeout: 30_000 },
  async (t) => {
    let asked = 0;
    const { promise: everyoneWaits, resolve: allAsked } = withResolvers<void>();
    const peers = countQuestions(createPeerInfo(PROCESS_SIGNATURES), () => {
      asked += 1;
      if (asked === NEW_CONNECTIONS) allAsked();
    });
    const { gate } = await openGate(t, { peers });
    const known = await rawClient(t, gate.port);
    known.write(requestTo(gate.port));
    await known.until(answers(1));

    asked = 0;
    const readings = holdReadings(t);
    const clients = await Promise.all(Array.from({ length: NEW_CONNECTIONS }, () => rawClient(t, gate.port)));
    for (const client of clients) client.write(requestTo(gate.port));
    await everyoneWaits;
    // Nothing would come before the readings do, were it not let in by now.
    known.write(requestTo(gate.port));
    await known.until(answers(2));
    readings.letGo();
    await Promise.all(clients.map((client) => client.until(answers(1))));

    // A table for the first question, one for all the others, and a little for rows that a reading missed.
    assert.ok(readings.count() >= 2 && readings.count() <= 6, `${readings.count()} readings`);
  },
);
