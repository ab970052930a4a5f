import assert from "node:assert/strict";
import { once } from "node:events";
import { Server, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { listen } from "../../../src/proxy/client/listener.ts";
import { DRAIN_LIMIT_MS } from "../../../src/proxy/refuse.ts";
import { startGate, withLimits, type TestGate } from "../../helpers/gate/gate.ts";
import { beginRequest, rawClient, rawRequest } from "../../helpers/client/raw-client.ts";
import { startTcpUpstream, untilStill } from "../../helpers/upstream/tcp-upstream.ts";
import { SSE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { measureUsed } from "../../helpers/process/used-memory.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { MIB, PIECE, repeat, type Play } from "./play.ts";

/** In the sockets of all three parties, who share this process. */
const UNDER_WAY_BYTES = 48 * MIB;

const startShortGate = async (t: TestContext): Promise<TestGate> =>
  startGate(t, (await startUpstream(t, () => assert.fail("it was forwarded"))).baseUrl, {
    headersLimitMs: 50,
  });

async function isHungUpOn(t: TestContext, said: string): Promise<void> {
  const client = await rawClient(t, (await startShortGate(t)).port);
  client.write(said);
  assert.match(await client.closed, /^(?:HTTP\/1\.1 408 [^]*)?$/);
}

/** So many clients ask for 200 MiB each and read nothing. Fails when that costs more than `bytes`; they then leave. */
async function readNothing(t: TestContext, count: number, bytes: number): Promise<void> {
  let sent = 0;
  const all = withResolvers<void>();
  const upstream = await startUpstream(t, (_seen, res) => {
    if (upstream.seen.length === count) all.resolve();
    const body = Readable.from(repeat(PIECE, 200), { highWaterMark: 1 });
    body.on("data", () => (sent += MIB));
    body.pipe(res.writeHead(200, SSE));
  });
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 20 } } });
  const before = measureUsed();
  const clients = await Promise.all(Array.from({ length: count }, () => rawClient(t, gate.port)));
  for (const client of clients) {
    client.socket.pause();
    client.write(rawRequest(gate.port));
  }
  await all.promise;
  await untilStill(() => sent);
  const grown = measureUsed() - before;
  t.diagnostic(`${sent / MIB} MiB of ${count * 200} were let go, ${Math.round(grown / MIB)} MiB are held`);
  assert.ok(sent < count * UNDER_WAY_BYTES && grown < bytes, `${sent}, ${grown}`);
  for (const client of clients) client.socket.destroy();
  const records = await gate.ledger.first(count);
  assert.deepEqual(
    [...new Set(records.map(({ outcome, cut_by }) => `${outcome} ${cut_by}`))],
    ["cut client"],
  );
}

/** Clients that take their time, or all of it. */
export const SLOW_CLIENTS: Record<string, Play> = {
  "a client that sends no head is hung up on after the limit": (t) => isHungUpOn(t, ""),

  "a client that sends half a head is hung up on after the limit": (t) =>
    isHungUpOn(t, "POST /v1/messages HTTP/1.1\r\nHo"),

  "a client that sends its head byte by byte is hung up on all the same": async (t) => {
    const client = await rawClient(t, (await startShortGate(t)).port);
    client.write("GET /v1/models HTTP/1.1\r\nX: ");
    const drip = setInterval(() => client.write("y"), 5);
    t.after(() => clearInterval(drip));
    await client.closed;
  },

  "unless told otherwise a listener waits a minute for a head, and keeps idle connections for longer than clients do":
    async (t) => {
      const { promise, resolve } = withResolvers<Socket>();
      const listener = await listen(0, {
        accept: resolve,
        release: () => {},
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
    const upstream = await startUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: 50 }));
    const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
    const client = await rawClient(t, gate.port);
    client.write(`${beginRequest(gate.port, "Content-Length: 100")}{"model":`);
    const [{ socket }] = await requested;
    const freed = new Promise((resolve) => socket.once("close", resolve));
    const answer = await client.until(/body_timeout[^]*\}\}$/);
    assert.match(answer, /^HTTP\/1\.1 408 [^]*limits\.bodyIdleMs/);
    await freed;
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", 408]);
  },

  "a refused client that goes on byte by byte is read for two seconds, and no longer": async (t) => {
    const upstream = await startUpstream(t, () => assert.fail("it was forwarded"));
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    t.mock.timers.enable({ apis: ["setTimeout"] });
    client.write(beginRequest(gate.port, "Content-Length: 1000000").replace("/v1/messages", "/nowhere"));
    await client.until(/not_found/);
    const drip = setInterval(() => client.write("y"), 20);
    t.after(() => clearInterval(drip));
    t.mock.timers.tick(DRAIN_LIMIT_MS - 1);
    await untilStill(() => client.socket.bytesRead);
    assert.equal(client.socket.readableEnded, false);
    t.mock.timers.tick(1);
    await client.closed;
  },

  "a silence that the upstream makes by not reading is not the client's": async (t) => {
    const bytes = 16 * MIB;
    const upstream = await startTcpUpstream(t, (socket) => socket.pause());
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: 250 }));
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, `Content-Length: ${bytes}`));
    for (let sent = 0; sent < bytes; sent += MIB) client.socket.write(PIECE);
    const socket = await upstream.first;
    await untilStill(() => client.socket.writableLength);
    // Silences of clients that begin later, one after another, have run into the limit before the upstream reads on.
    for (let i = 0; i < 3; i += 1) {
      const silent = await rawClient(t, gate.port);
      silent.write(`${beginRequest(gate.port, "Content-Length: 9")}{`);
      await silent.until(/body_timeout/);
    }
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (received >= bytes) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
    socket.resume();
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 OK/);
  },

  "a client that does not read holds the upstream back, and is given up when it leaves": (t) =>
    readNothing(t, 1, 16 * MIB),

  "twenty clients that do not read cost no more than a few mebibytes each": (t) =>
    readNothing(t, 20, 60 * MIB),
};
