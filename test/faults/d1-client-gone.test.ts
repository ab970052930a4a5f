// D1, a client that is gone: whatever phase its request is in, the upstream request of a client that has left is destroyed within a second, and recorded as cut by the client.
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { constants, createGzip } from "node:zlib";
import { createPeerInfo } from "../../src/adapters/peer.ts";
import { defaultConfig } from "../../src/core/config.ts";
import type { UsageRecord } from "../../src/core/record.ts";
import { post, startGate, type GateOptions, type TestGate } from "../helpers/gate.ts";
import { rawClient, rawRequest, type RawClient } from "../helpers/raw-client.ts";
import { startFullListener, startTcpUpstream, untilStill } from "../helpers/tcp-upstream.ts";
import {
  answerJson,
  MESSAGE,
  MESSAGE_EVENTS,
  SSE,
  startHeldUpstream,
  startUpstream,
} from "../helpers/upstream.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };
const SHORT_GRACE = { config: { abort: { graceMs: 20 } } };
/** Whatever is freed before this has ended is freed without a grace. */
const LONG_GRACE = { config: { abort: { graceMs: 60_000 } } };

const PIECE = Buffer.alloc(64 * 1024, "x");

function uploadHead(port: number, bytes: number): string {
  return `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
}

/** Resolves when the gate has dealt with everything that was sent to it before. */
async function settled(gate: TestGate): Promise<void> {
  await fetch(`${gate.url}/`, { method: "HEAD" });
}

async function leave(client: RawClient): Promise<void> {
  client.socket.destroy();
  await client.closed;
}

/** A gate, and a client whose request it has. */
async function startExchange(t: TestContext, baseUrl: string, options: GateOptions) {
  const gate = await startGate(t, baseUrl, options);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  return { gate, client };
}

/** An exchange whose stream is open; the client has seen what was sent of it. */
async function startStream(t: TestContext, options: GateOptions, ...events: string[]) {
  const { upstream, held } = await startHeldUpstream(t);
  const { gate, client } = await startExchange(t, upstream.baseUrl, options);
  const answer = await held;
  answer.flushHeaders();
  for (const event of events) answer.write(event);
  await client.until(events.length === 0 ? /200 OK/ : /message_start/);
  return { gate, client, answer };
}

/** The exchange's one record, after making sure that it says who cut it. */
async function cutByClient(gate: TestGate, status: number | null): Promise<UsageRecord> {
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", status]);
  return record;
}

test("the grace leaves room in the second", () => {
  assert.ok(defaultConfig.abort.graceMs <= 500);
});

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
    client.write(uploadHead(gate.port, bytes));
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
  const { gate, client } = await startExchange(t, `http://127.0.0.1:${port}/v1`, SHORT_GRACE);
  await settled(gate);
  assert.deepEqual([gate.gate.openExchanges, connecting()], [1, 1]);
  await leave(client);
  await cutByClient(gate, null);
  assert.equal(gate.gate.openExchanges, 0);
  while (connecting() > 0) await setImmediate();
});

test("one who leaves while the upstream's TLS handshake hangs frees the connection", LIMIT, async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.resume());
  const { gate, client } = await startExchange(t, `https://127.0.0.1:${upstream.port}/v1`, SHORT_GRACE);
  const socket = await upstream.first;
  const freed = once(socket, "close");
  await once(socket, "data");
  await leave(client);
  await freed;
  await cutByClient(gate, null);
});

test("one who leaves during the upload frees the upstream at once", LIMIT, async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, LONG_GRACE);
  const requested = once(upstream.server, "request") as Promise<[unknown, ServerResponse]>;
  const client = await rawClient(t, gate.port);
  client.write(`${uploadHead(gate.port, 100)}{"model":`);
  const freed = once((await requested)[1], "close");
  await leave(client);
  await freed;
  await cutByClient(gate, null);
});

for (const [bytes, how] of [
  [1_000_000, "destroy"],
  [20_000_000, "destroy"],
  [20_000_000, "resetAndDestroy"],
] as const) {
  test(`one who leaves (${how}) while ${bytes} bytes are not read upstream frees it`, LIMIT, async (t) => {
    const upstream = await startTcpUpstream(t, (socket) => socket.pause());
    const gate = await startGate(t, upstream.baseUrl, { ...SHORT_GRACE, peers: createPeerInfo() });
    const { socket: client } = await rawClient(t, gate.port);
    client.write(uploadHead(gate.port, bytes));
    for (let sent = 0; sent < bytes; sent += PIECE.length) client.write(PIECE.subarray(0, bytes - sent));
    const socket = await upstream.first;
    await untilStill(() => client.writableLength);
    const isHeldUp = client.writableLength > 0;
    assert.equal(isHeldUp, bytes > 1_000_000);
    client[how]();
    await cutByClient(gate, null);
    let received = 0;
    socket.on("data", (chunk) => (received += chunk.length)).resume();
    await once(socket, "close");
    assert.ok(!isHeldUp || received < bytes, "the rest was sent without a client");
  });
}

for (const [method, path] of [
  ["GET", "/v1/models"],
  ["POST", "/v1/responses"],
  ["POST", "/v1/messages"],
  ["POST", "/v1/messages/count_tokens"],
] as const) {
  test(`one who leaves ${method} ${path} before the answer's head frees the upstream`, LIMIT, async (t) => {
    const upstream = await startUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl, SHORT_GRACE);
    const requested = once(upstream.server, "request") as Promise<[unknown, ServerResponse]>;
    const client = await rawClient(t, gate.port);
    const body = method === "GET" ? "\r\n" : "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    client.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n${body}`);
    const freed = once((await requested)[1], "close");
    await leave(client);
    await freed;
    await cutByClient(gate, null);
  });
}

test("one who leaves a stream before its first event frees the upstream", LIMIT, async (t) => {
  const { gate, client, answer } = await startStream(t, SHORT_GRACE);
  const freed = once(answer, "close");
  await leave(client);
  await freed;
  const { usage, tokens } = await cutByClient(gate, 200);
  assert.deepEqual([usage, tokens], ["absent", null]);
});

for (const how of ["destroy", "resetAndDestroy"] as const) {
  test(`one who leaves (${how}) a silent stream frees the upstream, its input kept`, LIMIT, async (t) => {
    const { gate, client, answer } = await startStream(t, SHORT_GRACE, MESSAGE_EVENTS[0]);
    const freed = once(answer, "close");
    client.socket[how]();
    await freed;
    const { usage, tokens } = await cutByClient(gate, 200);
    assert.deepEqual([usage, tokens?.input_total, tokens?.output], ["partial", 3, 1]);
  });
}

test("one who leaves a compressed stream frees the upstream, its input kept", LIMIT, async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    const gzip = createGzip();
    gzip.pipe(res.writeHead(200, { ...SSE, "content-encoding": "gzip" }));
    gzip.write(MESSAGE_EVENTS[0]);
    gzip.flush(constants.Z_SYNC_FLUSH);
  });
  const connected = once(upstream.server, "connection") as Promise<[Socket]>;
  const { gate, client } = await startExchange(t, upstream.baseUrl, SHORT_GRACE);
  const freed = once((await connected)[0], "close");
  await client.until(/\r\n\r\n[^]{20}/);
  await leave(client);
  await freed;
  const { usage, tokens } = await cutByClient(gate, 200);
  assert.deepEqual([usage, tokens?.input_total], ["partial", 3]);
});

test("an upstream that goes on talking is freed all the same, when the grace is over", LIMIT, async (t) => {
  const { gate, client, answer } = await startStream(t, SHORT_GRACE, MESSAGE_EVENTS[0]);
  const goOn = () => void (answer.destroyed || answer.write(MESSAGE_EVENTS[1], goOn));
  goOn();
  await client.until(/text_delta[^]*text_delta/);
  const freed = once(answer, "close");
  await leave(client);
  await freed;
  assert.equal((await cutByClient(gate, 200)).tokens?.input_total, 3);
});

test("usage that is said within the grace is final, although nobody reads it", LIMIT, async (t) => {
  const { gate, client, answer } = await startStream(t, LONG_GRACE, MESSAGE_EVENTS[0]);
  await leave(client);
  for (const event of MESSAGE_EVENTS.slice(1)) answer.write(event);
  answer.end();
  const { outcome, usage, tokens } = await gate.ledger.only();
  assert.deepEqual([outcome, usage, tokens?.output], ["completed", "final", 2]);
});

test(
  "an upstream that breaks off within the grace does not hide that the client had left",
  LIMIT,
  async (t) => {
    const { gate, client, answer } = await startStream(t, LONG_GRACE, MESSAGE_EVENTS[0]);
    await leave(client);
    await settled(gate);
    answer.destroy();
    assert.equal((await cutByClient(gate, 200)).tokens?.input_total, 3);
  },
);
