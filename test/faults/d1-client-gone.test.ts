// D1, a client that is gone: when a client disconnects, in whatever phase its request is, the upstream request is destroyed
// within a second and recorded as cut by the client.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../src/tools/all.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { GONE_UID, type PeerInfo } from "../../src/ports.ts";
import { post, waitUntilHandled, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { peersOf } from "../helpers/gate/memory.ts";
import { beginRequest, rawRequest, type RawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { startFullListener } from "../helpers/upstream/tcp-upstream.ts";
import { startUpstream, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { openStream } from "./endings/ending.ts";
import { holdTime } from "../helpers/async/hold-time.ts";
import { openUnreadUpload, PHASES } from "./exchange-phases.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const LIMIT = { timeout: 300_000 };
const SHORT_GRACE = { config: { abort: { graceMs: 20 } } };
/** Too long for any test: what is freed nevertheless is freed without a grace period. */
const LONG_GRACE = { config: { abort: { graceMs: 60_000 } } };

const WITHIN_MS = 1000;

async function disconnect(client: RawClient): Promise<void> {
  client.socket.destroy();
  await client.closed;
}

/** Returns the only record, after checking that it was cut by the client. */
async function recordCutByClient(gate: TestGate, status: number | null): Promise<UsageRecord> {
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", status]);
  return record;
}

for (const { phase, open, record: expected } of PHASES) {
  for (const how of ["destroy", "resetAndDestroy"] as const) {
    test(`a client that disconnects (${how}) ${phase} frees the upstream`, LIMIT, async (t) => {
      const { gate, client, upstreamClosed } = await open(t, SHORT_GRACE);
      client.socket[how]();
      await upstreamClosed;
      const [status, ...recorded] = expected;
      const { usage, tokens } = await recordCutByClient(gate, status);
      assert.deepEqual([usage, tokens?.input_total ?? null], recorded);
    });
  }
}

/** Resolves with the server's socket of the next connection to this process. */
function nextAccepted(t: TestContext): Promise<Socket> {
  return new Promise((resolve) => {
    const onSocket = (message: unknown) => resolve((message as { socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    t.after(() => unsubscribe("net.server.socket", onSocket));
  });
}

/** Reports disconnected clients at once, because the kernel's own delay is not part of the promise. */
function instantPeerInfo(): { peers: PeerInfo; markGone(client: RawClient): void } {
  const left = new Set<number | undefined>();
  return {
    peers: {
      lookUp: (client, server) => peersOf(left.has(client.port) ? GONE_UID : null).lookUp(client, server),
    },
    markGone: ({ socket }) => void left.add(socket.localPort),
  };
}

test(
  "with the default configuration a client that disconnects frees the upstream within a second in every phase",
  LIMIT,
  async (t) => {
    const pass = holdTime(t);
    const { peers, markGone } = instantPeerInfo();
    const exchanges = await Promise.all(PHASES.map(({ open }) => open(t, { peers })));
    const held = new Set(PHASES.map(({ phase }) => phase));
    const freed = exchanges.map(({ upstreamClosed }, i) =>
      upstreamClosed.then(() => held.delete(PHASES[i]?.phase ?? "")),
    );
    for (const { client } of exchanges) {
      markGone(client);
      client.socket.destroy();
    }
    for (const { gate } of exchanges) await waitUntilHandled(gate);
    pass(WITHIN_MS - 1);
    t.signal.addEventListener("abort", () => t.diagnostic(`not freed: ${[...held].join("; ")}`));
    await Promise.all(freed);
  },
);

test(
  "a client that disconnects within the request head reaches no upstream and leaves no record",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage);
    const client = await sendRaw(t, gate.port, rawRequest(gate.port).slice(0, 60));
    await waitUntilHandled(gate);
    await disconnect(client);
    await waitUntilHandled(gate);
    assert.equal(gate.ledger.records.length + upstream.sockets.size, 0);
    assert.equal((await post(gate, "/v1/messages", {})).status, 200);
  },
);

for (const bytes of [2, 20_000_000]) {
  test(
    `a client that disconnects while the key is read (upload of ${bytes} bytes) reaches no upstream`,
    LIMIT,
    async (t) => {
      const upstream = await startUpstream(t, respondWithMessage);
      let connections = 0;
      upstream.server.on("connection", () => (connections += 1));
      const gate = await startGate(t, upstream.baseUrl, {
        ...SHORT_GRACE,
        peers: createPeerInfo(PROCESS_SIGNATURES),
      });
      const reading = gate.keys.hold();
      const client = await sendRaw(t, gate.port, beginRequest(gate.port, `Content-Length: ${bytes}`));
      client.write("x".repeat(bytes));
      await reading.started;
      await disconnect(client);
      await waitUntilHandled(gate);
      reading.release();
      await recordCutByClient(gate, null);
      await waitUntilHandled(gate);
      assert.equal(connections, 0);
    },
  );
}

test(
  "a client that disconnects while the key is read is noticed without the system's help when Node can read its whole request",
  LIMIT,
  async (t) => {
    const bytes = 900_000;
    const upstream = await startUpstream(t, respondWithMessage);
    const gate = await startGate(t, upstream.baseUrl);
    const reading = gate.keys.hold();
    const accepted = nextAccepted(t);
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, `Content-Length: ${bytes}`));
    client.write("x".repeat(bytes));
    await reading.started;
    const socket = await accepted;
    const closed = once(socket, "close");
    await disconnect(client);
    await closed;
    reading.release();
    await recordCutByClient(gate, null);
    assert.equal(upstream.sockets.size, 0);
  },
);

/** The number of connections that this process is still opening. */
function countPendingConnections(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "ConnectWrap").length;
}

test(
  "a client that disconnects while the upstream does not accept the connection frees it",
  LIMIT,
  async (t) => {
    const pass = holdTime(t);
    const port = await startFullListener(t);
    const gate = await startGate(t, `http://127.0.0.1:${port}/v1`);
    const client = await sendRaw(t, gate.port);
    await waitUntilHandled(gate);
    assert.deepEqual([gate.gate.openExchanges, countPendingConnections()], [1, 1]);
    await disconnect(client);
    await waitUntilHandled(gate);
    pass(WITHIN_MS - 1);
    await recordCutByClient(gate, null);
    assert.equal(gate.gate.openExchanges, 0);
    while (countPendingConnections() > 0) await setImmediate();
  },
);

test(
  "a client that disconnects during its upload frees the upstream without a grace period",
  LIMIT,
  async (t) => {
    const upload = PHASES.find(({ phase }) => phase === "during its upload");
    const exchange = await upload?.open(t, LONG_GRACE);
    assert.ok(exchange);
    await disconnect(exchange.client);
    await exchange.upstreamClosed;
    await recordCutByClient(exchange.gate, null);
  },
);

for (const [bytes, isBlocked] of [
  [1_000_000, false],
  [20_000_000, true],
] as const) {
  test(
    `when the client of an upload of ${bytes} bytes disconnects, ${isBlocked ? "the rest is not sent" : "all of them have been sent"}`,
    LIMIT,
    async (t) => {
      const upload = await openUnreadUpload(t, SHORT_GRACE, bytes);
      assert.equal(upload.isBlocked, isBlocked);
      await disconnect(upload.client);
      await upload.upstreamClosed;
      assert.equal(upload.received() < bytes, isBlocked);
    },
  );
}

test(
  "usage that arrives within the grace period is final although the client has disconnected",
  LIMIT,
  async (t) => {
    const { gate, client, finish } = await openStream(t, LONG_GRACE);
    await disconnect(client);
    finish();
    const { outcome, usage, tokens } = await gate.ledger.only();
    assert.deepEqual([outcome, usage, tokens?.output], ["completed", "final", 2]);
  },
);

test(
  "a response that the upstream truncates within the grace period is recorded as cut by the client",
  LIMIT,
  async (t) => {
    const { gate, client, response } = await openStream(t, LONG_GRACE);
    await disconnect(client);
    await waitUntilHandled(gate);
    response.destroy();
    assert.equal((await recordCutByClient(gate, 200)).tokens?.input_total, 3);
  },
);
