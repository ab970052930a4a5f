import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { beginRequest, rawClient, rawRequest, type RawClient } from "../../helpers/client/raw-client.ts";
import { startGate, withLimits, type TestGate } from "../../helpers/gate/gate.ts";
import { measureUsedMemory } from "../../helpers/process/used-memory.ts";
import { waitUntilStill } from "../../helpers/upstream/tcp-upstream.ts";
import { MESSAGE, sendJson, SSE, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { CHUNK, MIB, repeat, type Scenario } from "./scenario.ts";

const MANY = 32;
/** Where every byte is read in the end. */
const SOME = 8;
/** Of this, so many may hold one reading of a socket each. */
const BUFFER_BYTES = 4 * MIB;
/** One reading, by which each upload may exceed its share. */
const READING_BYTES = 64 * 1024;
/** Besides that, for each of them: both ends of two connections, their exchange, and what Node reads of a response by itself. */
const MAX_BYTES_EACH = 256 * 1024;
/** What a response that nothing takes may use beside what is counted: its share of the above, without a read that nothing counts. */
const MOST_UNCOUNTED_EACH = 224 * 1024;
const SMALL_BUFFER = withLimits({ bufferBytes: BUFFER_BYTES });

const RESPONSE_MIB = 12;
const UPLOAD_BYTES = 8 * MIB;
const UPLOAD = Buffer.alloc(UPLOAD_BYTES, "0123456789");

/** Sends a long response to each request, as fast as it is read. */
function respondAtLength(_seen: unknown, res: ServerResponse): void {
  Readable.from(repeat(CHUNK, RESPONSE_MIB), { highWaterMark: 1 }).pipe(res.writeHead(200, SSE));
}

/** Sends a request on each of so many connections. The clients read nothing. */
async function openStuck(
  t: TestContext,
  { port }: TestGate,
  bytes: string,
  count = MANY,
): Promise<RawClient[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => rawClient(t, port)));
  for (const { socket } of clients) socket.pause().write(bytes);
  return clients;
}

/** Resolves when the gate holds nothing for anybody. */
async function untilNothingWaits({ gate }: TestGate): Promise<void> {
  while (gate.bufferedBytes > 0) await setImmediate();
}

async function countResponseBytes({ port }: TestGate): Promise<number> {
  const headers = { "content-type": "application/json" };
  const asking = request({ port, path: "/v1/messages", method: "POST", headers, agent: false }).end("{}");
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  return bytes;
}

/** An upstream that reads uploads to `/v1/messages` only when it is told to, and then responds. */
async function startReluctantUpstream(t: TestContext) {
  const uploads: { req: IncomingMessage; res: ServerResponse }[] = [];
  const received: string[] = [];
  const server = createServer((req, res) => {
    req.on("error", () => {});
    if (req.url === "/v1/messages") uploads.push({ req, res });
    else req.resume().once("end", () => sendJson(res, MESSAGE));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    uploads,
    /** The hashes of the uploads that were read. */
    received,
    readAll() {
      for (const { req, res } of uploads) {
        const hash = createHash("sha256");
        req.on("data", (chunk: Buffer) => hash.update(chunk));
        req.once("end", () => {
          received.push(hash.digest("hex"));
          sendJson(res, MESSAGE);
        });
      }
    },
  };
}

/** Starts uploads that the upstream does not read, and waits until none gets any further. */
async function openUnreadUploads(t: TestContext, count = MANY) {
  const upstream = await startReluctantUpstream(t);
  const gate = await startGate(t, upstream.baseUrl, SMALL_BUFFER);
  const before = measureUsedMemory();
  const head = beginRequest(gate.port, `Content-Length: ${UPLOAD_BYTES}`);
  const clients = await openStuck(t, gate, head, count);
  for (const { socket } of clients) socket.write(UPLOAD);
  while (upstream.uploads.length < count) await setImmediate();
  await waitUntilStill(() => gate.gate.bufferedBytes);
  assertWithinLimit(t, gate, before, count);
  return { upstream, gate, clients };
}

/** `before` is what this process used before the requests. */
function assertWithinLimit(t: TestContext, { gate }: TestGate, before: number, count = MANY): void {
  const { bufferedBytes } = gate;
  const grown = measureUsedMemory() - before;
  t.diagnostic(
    `${count} hold ${mebibytes(bufferedBytes)} of ${mebibytes(BUFFER_BYTES)}, and use ${mebibytes(grown)}`,
  );
  assert.ok(bufferedBytes >= (count * READING_BYTES) / 2, mebibytes(bufferedBytes));
  assert.ok(bufferedBytes <= BUFFER_BYTES + count * READING_BYTES, mebibytes(bufferedBytes));
  assert.ok(grown < BUFFER_BYTES + count * MAX_BYTES_EACH, mebibytes(grown));
}

const mebibytes = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;

/** Many that do not read, at once. */
export const STUCK_READERS: Record<string, Scenario> = {
  "clients that do not read share one limit, and one that does read beside them gets its whole response":
    async (t) => {
      const upstream = await startUpstream(t, respondAtLength);
      const gate = await startGate(t, upstream.baseUrl, SMALL_BUFFER);
      const before = measureUsedMemory();
      const clients = await openStuck(t, gate, rawRequest(gate.port));
      while (upstream.seen.length < MANY) await setImmediate();
      await waitUntilStill(() => gate.gate.bufferedBytes);
      assertWithinLimit(t, gate, before);
      const uncounted = measureUsedMemory() - before - gate.gate.bufferedBytes;
      assert.ok(uncounted < MANY * MOST_UNCOUNTED_EACH, mebibytes(uncounted));
      assert.equal(await countResponseBytes(gate), RESPONSE_MIB * MIB);
      for (const { socket } of clients) socket.destroy();
      await untilNothingWaits(gate);
    },

  "clients that read after all get every byte of their responses": async (t) => {
    const upstream = await startUpstream(t, respondAtLength);
    const gate = await startGate(t, upstream.baseUrl, SMALL_BUFFER);
    const clients = await openStuck(t, gate, rawRequest(gate.port), SOME);
    await waitUntilStill(() => gate.gate.bufferedBytes);
    const received = clients.map(({ socket }) => countUntilLastChunk(socket));
    const least = Math.min(...(await Promise.all(received)));
    assert.ok(least >= RESPONSE_MIB * MIB, `${least}`);
    await untilNothingWaits(gate);
  },

  "uploads that the upstream does not read share one limit, and other requests go through beside them":
    async (t) => {
      const { gate, clients } = await openUnreadUploads(t);
      const response = await fetch(`${gate.url}/v1/models`);
      assert.equal(response.status, 200);
      for (const { socket } of clients) socket.destroy();
      // Without the system's help a client that has left is noticed when its bytes are read.
      gate.gate.close();
      await untilNothingWaits(gate);
    },

  "uploads that the upstream reads after all arrive whole": async (t) => {
    const { upstream, gate } = await openUnreadUploads(t, SOME);
    upstream.readAll();
    const records = await gate.ledger.first(SOME);
    assert.deepEqual(new Set(records.map(({ outcome }) => outcome)), new Set(["completed"]));
    const digest = createHash("sha256").update(UPLOAD).digest("hex");
    assert.deepEqual([upstream.received.length, new Set(upstream.received)], [SOME, new Set([digest])]);
    await untilNothingWaits(gate);
  },

  "uploads whose key is still being read share the same limit, and arrive whole when it has been": async (
    t,
  ) => {
    const upstream = await startReluctantUpstream(t);
    const gate = await startGate(t, upstream.baseUrl, SMALL_BUFFER);
    const reading = gate.keys.hold();
    const before = measureUsedMemory();
    const clients = await openStuck(t, gate, beginRequest(gate.port, `Content-Length: ${MIB}`));
    for (const { socket } of clients) socket.write(CHUNK);
    await reading.started;
    await waitUntilStill(() => clients.reduce((sum, { socket }) => sum + socket.writableLength, 0));
    const grown = measureUsedMemory() - before;
    assert.ok(grown < BUFFER_BYTES + MANY * MAX_BYTES_EACH, mebibytes(grown));
    reading.release();
    while (upstream.uploads.length < MANY) await setImmediate();
    upstream.readAll();
    await gate.ledger.first(MANY);
    assert.equal(upstream.received.length, MANY);
    await untilNothingWaits(gate);
  },

  "another limit takes effect without a restart": async (t) => {
    const upstream = await startUpstream(t, respondAtLength);
    const gate = await startGate(t, upstream.baseUrl);
    const { settings } = gate.gate;
    const limits = { ...settings.config.limits, bufferBytes: BUFFER_BYTES };
    gate.gate.use({ ...settings, config: { ...settings.config, limits } });
    const before = measureUsedMemory();
    await openStuck(t, gate, rawRequest(gate.port));
    while (upstream.seen.length < MANY) await setImmediate();
    await waitUntilStill(() => gate.gate.bufferedBytes);
    assertWithinLimit(t, gate, before);
  },
};

/** Reads a chunked response to its end. Resolves with the number of bytes on the wire. */
function countUntilLastChunk(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let [bytes, last] = [0, ""];
    socket.removeAllListeners("data");
    socket.on("data", (text: string) => {
      bytes += text.length;
      last = (last + text.slice(-16)).slice(-16);
      if (last.endsWith("\r\n0\r\n\r\n")) resolve(bytes);
    });
    socket.on("close", () => reject(new Error(`closed after ${bytes} bytes`)));
    socket.resume();
  });
}
