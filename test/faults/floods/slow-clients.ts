import assert from "node:assert/strict";
import { once } from "node:events";
import { Server, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { listen } from "../../../src/proxy/client/listener.ts";
import { DRAIN_LIMIT_MS } from "../../../src/proxy/refusals/discard-body.ts";
import { startGate, withLimits, type TestGate } from "../../helpers/gate/gate.ts";
import { beginRequest, rawClient, rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream, waitUntilStill } from "../../helpers/upstream/tcp-upstream.ts";
import { SSE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import { holdTime, passTimeUntil } from "../../helpers/async/hold-time.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { MIB, CHUNK, repeat, type Scenario } from "./scenario.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";

/** What the sockets of client, gate and upstream may hold, which share this process. */
const MAX_BUFFERED_BYTES = 48 * MIB;

const startGateWithShortLimit = async (t: TestContext): Promise<TestGate> =>
  startGate(t, (await startUpstream(t, () => assert.fail("it was forwarded"))).baseUrl, {
    headersLimitMs: 50,
  });

async function assertClosed(t: TestContext, bytes: string): Promise<void> {
  const client = await sendRaw(t, (await startGateWithShortLimit(t)).port, bytes);
  assert.match(await client.closed, /^(?:HTTP\/1\.1 408 [^]*)?$/);
}

/** Has `count` clients request 200 MiB each, read nothing, and disconnect. Fails when that takes more than `bytes` of memory. */
async function assertBoundedMemory(t: TestContext, count: number, bytes: number): Promise<void> {
  let sent = 0;
  const all = withResolvers<void>();
  const upstream = await startUpstream(t, (_seen, res) => {
    if (upstream.seen.length === count) all.resolve();
    const body = Readable.from(repeat(CHUNK, 200), { highWaterMark: 1 });
    body.on("data", () => (sent += MIB));
    body.pipe(res.writeHead(200, SSE));
  });
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 20 } } });
  const before = measureUsedMemory();
  const clients = await Promise.all(Array.from({ length: count }, () => rawClient(t, gate.port)));
  for (const client of clients) {
    client.socket.pause();
    client.write(rawRequest(gate.port));
  }
  await all.promise;
  await waitUntilStill(() => sent);
  const grown = measureUsedMemory() - before;
  t.diagnostic(`${sent / MIB} MiB of ${count * 200} were sent, ${Math.round(grown / MIB)} MiB are held`);
  assert.ok(sent < count * MAX_BUFFERED_BYTES && grown < bytes, `${sent}, ${grown}`);
  for (const client of clients) client.socket.destroy();
  const records = await gate.ledger.first(count);
  assert.deepEqual(
    [...new Set(records.map(({ outcome, cut_by }) => `${outcome} ${cut_by}`))],
    ["cut client"],
  );
}

/** Clients that are slow or stop. */
export const SLOW_CLIENTS: Record<string, Scenario> = {
  "the connection of a client that sends no head is closed after the limit": (t) => assertClosed(t, ""),

  "the connection of a client that sends half a head is closed after the limit": (t) =>
    assertClosed(t, "POST /v1/messages HTTP/1.1\r\nHo"),

  "the connection of a client that sends its head byte by byte is closed after the limit": async (t) => {
    const client = await sendRaw(
      t,
      (await startGateWithShortLimit(t)).port,
      "GET /v1/models HTTP/1.1\r\nX: ",
    );
    const drip = setInterval(() => client.write("y"), 5);
    t.after(() => clearInterval(drip));
    await client.closed;
  },

  "by default a listener waits 60 s for a head, and keeps idle connections longer than clients do": async (
    t,
  ) => {
    const { promise, resolve } = withResolvers<Socket>();
    const listener = await listen(0, {
      accept: resolve,
      release: () => {},
      refuseInvalid: (socket) => socket.destroy(),
      handle: () => Promise.resolve(),
    });
    t.after(() => listener.destroy());
    await rawClient(t, listener.port);
    const server: unknown = Reflect.get(await promise, "server");
    assert.ok(server instanceof Server);
    const { headersTimeout, keepAliveTimeout, requestTimeout } = server;
    assert.deepEqual([headersTimeout, keepAliveTimeout > 75_000, requestTimeout], [60_000, true, 0]);
  },

  "a client that stops within its body gets a 408 after the limit, and the upstream is freed": async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, () => {}, withLimits({ bodyIdleMs: 50 }));
    const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
    const client = await sendRaw(t, gate.port, `${beginRequest(gate.port, "Content-Length: 100")}{"model":`);
    const [{ socket }] = await requested;
    const freed = new Promise((resolve) => socket.once("close", resolve));
    const response = await client.until(/body_timeout[^]*\}\}$/);
    assert.match(response, /^HTTP\/1\.1 408 [^]*limits\.bodyIdleMs/);
    await freed;
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", 408]);
  },

  "the body of a refused request that arrives byte by byte is read for two seconds and no longer": async (
    t,
  ) => {
    const { gate } = await startGateWithUpstream(t, () => assert.fail("it was forwarded"));
    const client = await rawClient(t, gate.port);
    t.mock.timers.enable({ apis: ["setTimeout"] });
    client.write(beginRequest(gate.port, "Content-Length: 1000000").replace("/v1/messages", "/nowhere"));
    await client.until(/not_found/);
    const drip = setInterval(() => client.write("y"), 20);
    t.after(() => clearInterval(drip));
    t.mock.timers.tick(DRAIN_LIMIT_MS - 1);
    await waitUntilStill(() => client.socket.bytesRead);
    assert.equal(client.socket.readableEnded, false);
    t.mock.timers.tick(1);
    await client.closed;
  },

  "the limit on silence in a request body does not run while the upstream does not read": async (t) => {
    const bytes = 16 * MIB;
    const upstream = await startTcpUpstream(t, (socket) => socket.pause());
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: 250 }));
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, `Content-Length: ${bytes}`));
    const passTime = holdTime(t);
    for (let sent = 0; sent < bytes; sent += MIB) client.socket.write(CHUNK);
    const socket = await upstream.first;
    await waitUntilStill(() => client.socket.writableLength);
    const silent = await sendRaw(t, gate.port, `${beginRequest(gate.port, "Content-Length: 9")}{`);
    await passTimeUntil(silent.until(/body_timeout/), () => passTime(250));
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (received >= bytes) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    socket.resume();
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 OK/);
  },

  "a client that does not read pauses the upstream, and its exchange is cut when it disconnects": (t) =>
    assertBoundedMemory(t, 1, 16 * MIB),

  "twenty clients that do not read take no more than a few mebibytes each": (t) =>
    assertBoundedMemory(t, 20, 60 * MIB),
};
