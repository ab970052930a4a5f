// D1, a client that is gone: whatever phase its request is in, the upstream request of a client that has left is destroyed within a second, and recorded as cut by the client.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { GONE_UID, type PeerInfo } from "../../src/ports.ts";
import { post, settled, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { peersOf } from "../helpers/gate/memory.ts";
import { beginRequest, rawClient, rawRequest, type RawClient } from "../helpers/client/raw-client.ts";
import { startFullListener } from "../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { openStream } from "./endings/ending.ts";
import { openUnreadUpload, PHASES } from "./phases.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };
const SHORT_GRACE = { config: { abort: { graceMs: 20 } } };
/** Whatever is freed before this has ended is freed without a grace. */
const LONG_GRACE = { config: { abort: { graceMs: 60_000 } } };

const WITHIN_MS = 1000;

async function leave(client: RawClient): Promise<void> {
  client.socket.destroy();
  await client.closed;
}

/** The exchange's one record, after making sure that it says who cut it. */
async function cutByClient(gate: TestGate, status: number | null): Promise<UsageRecord> {
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", status]);
  return record;
}

for (const { phase, open, record: expected } of PHASES) {
  for (const how of ["destroy", "resetAndDestroy"] as const) {
    test(`one who leaves (${how}) ${phase} frees the upstream`, LIMIT, async (t) => {
      const { gate, client, freed } = await open(t, SHORT_GRACE);
      client.socket[how]();
      await freed;
      const [status, ...told] = expected;
      const { usage, tokens } = await cutByClient(gate, status);
      assert.deepEqual([usage, tokens?.input_total ?? null], told);
    });
  }
}

/** A system that tells at once who has left: how long the kernel takes to say so is not ours to promise. */
function quickSystem(): { peers: PeerInfo; note(client: RawClient): void } {
  const left = new Set<number | undefined>();
  return {
    peers: {
      lookUp: (client, server) => peersOf(left.has(client.port) ? GONE_UID : null).lookUp(client, server),
    },
    note: ({ socket }) => void left.add(socket.localPort),
  };
}

test(
  "one who leaves frees the upstream within a second in every phase, as configured by default",
  LIMIT,
  async (t) => {
    const { peers, note } = quickSystem();
    const underWay = await Promise.all(PHASES.map(({ open }) => open(t, { peers })));
    const leftAt = performance.now();
    for (const { client } of underWay) {
      note(client);
      client.socket.destroy();
    }
    const times = await Promise.all(
      underWay.map(({ freed }) => freed.then(() => performance.now() - leftAt)),
    );
    const late = PHASES.map(({ phase }, i) => [phase, times[i] ?? 0] as const).filter(
      ([, ms]) => ms >= WITHIN_MS,
    );
    assert.deepEqual(late, []);
  },
);

test("one who leaves within the request's head reaches no upstream, and has no record", LIMIT, async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port).slice(0, 60));
  await settled(gate);
  await leave(client);
  await settled(gate);
  assert.equal(gate.ledger.records.length + upstream.sockets.size, 0);
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
});

for (const bytes of [2, 20_000_000]) {
  test(`one who leaves while the key is read (upload of ${bytes}) reaches no upstream`, LIMIT, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
    let connections = 0;
    upstream.server.on("connection", () => (connections += 1));
    const gate = await startGate(t, upstream.baseUrl, { ...SHORT_GRACE, peers: createPeerInfo() });
    const store = new EventEmitter();
    const asked = once(store, "asked");
    const read = gate.keys.read.bind(gate.keys);
    gate.keys.read = async (ref) => {
      store.emit("asked");
      await once(store, "answer");
      return read(ref);
    };
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, `Content-Length: ${bytes}`));
    client.write("x".repeat(bytes));
    await asked;
    await leave(client);
    await settled(gate);
    store.emit("answer");
    await cutByClient(gate, null);
    await settled(gate);
    assert.equal(connections, 0);
  });
}

/** Connections that this process is about to make. */
function connecting(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "ConnectWrap").length;
}

test("one who leaves while the upstream does not take the connection frees it", LIMIT, async (t) => {
  const port = await startFullListener(t);
  const gate = await startGate(t, `http://127.0.0.1:${port}/v1`);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  await settled(gate);
  assert.deepEqual([gate.gate.openExchanges, connecting()], [1, 1]);
  const left = performance.now();
  await leave(client);
  await cutByClient(gate, null);
  assert.equal(gate.gate.openExchanges, 0);
  while (connecting() > 0) await setImmediate();
  const tookMs = performance.now() - left;
  assert.ok(tookMs < WITHIN_MS, `${tookMs} ms`);
});

test("one who leaves during the upload frees the upstream at once", LIMIT, async (t) => {
  const upload = PHASES.find(({ phase }) => phase === "during its upload");
  const underWay = await upload?.open(t, LONG_GRACE);
  assert.ok(underWay);
  await leave(underWay.client);
  await underWay.freed;
  await cutByClient(underWay.gate, null);
});

for (const [bytes, isHeldUp] of [
  [1_000_000, false],
  [20_000_000, true],
] as const) {
  test(
    `of ${bytes} bytes that are not read upstream ${isHeldUp ? "the rest is not sent" : "none wait here"} when their client has left`,
    LIMIT,
    async (t) => {
      const upload = await openUnreadUpload(t, SHORT_GRACE, bytes);
      assert.equal(upload.isHeldUp, isHeldUp);
      await leave(upload.client);
      await upload.freed;
      assert.equal(upload.received() < bytes, isHeldUp);
    },
  );
}

test("usage that is said within the grace is final, although nobody reads it", LIMIT, async (t) => {
  const { gate, client, finish } = await openStream(t, LONG_GRACE);
  await leave(client);
  finish();
  const { outcome, usage, tokens } = await gate.ledger.only();
  assert.deepEqual([outcome, usage, tokens?.output], ["completed", "final", 2]);
});

test(
  "an upstream that breaks off within the grace does not hide that the client had left",
  LIMIT,
  async (t) => {
    const { gate, client, answer } = await openStream(t, LONG_GRACE);
    await leave(client);
    await settled(gate);
    answer.destroy();
    assert.equal((await cutByClient(gate, 200)).tokens?.input_total, 3);
  },
);
