import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { holdTime, passTimeUntil } from "../../helpers/async/hold-time.ts";
import { beginRequest, rawClient, sendRaw } from "../../helpers/client/raw-client.ts";
import { startGate, withLimits } from "../../helpers/gate/gate.ts";
import { startTcpUpstream, waitUntilStill } from "../../helpers/upstream/tcp-upstream.ts";

const BODY_IDLE_MS = 100;

/** With one of these sizes the gate has the whole body while the upstream has not, whatever the system's buffers hold. */
const SIZES = Array.from({ length: 12 }, (_, i) => (i + 1) * 512 * 1024);

test(
  "the limit on silence in a request body does not run while the upstream reads a body that is already complete",
  { timeout: 300_000 },
  async (t) => {
    const sockets: Socket[] = [];
    const upstream = await startTcpUpstream(t, (socket) => sockets.push(socket.pause()));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: BODY_IDLE_MS }));
    const requests = collectRequests(t);
    const passTime = holdTime(t);
    const clients = await Promise.all(SIZES.map(() => rawClient(t, gate.port)));
    for (const [i, size] of SIZES.entries()) {
      clients[i]?.write(beginRequest(gate.port, `Content-Length: ${size}`) + "x".repeat(size));
    }
    while (requests.filter(isAtRest).length < SIZES.length) await setImmediate();
    // A paused client goes on once the system has taken more of its body for the upstream.
    await waitUntilStill(() => requests.reduce((sum, { socket }) => sum + socket.bytesRead, 0));
    const silent = await sendRaw(t, gate.port, `${beginRequest(gate.port, "Content-Length: 10")}{`);
    await passTimeUntil(silent.until(/^HTTP\/1\.1 408 /), () => passTime(BODY_IDLE_MS));
    for (const socket of sockets) respondWhenRead(socket);
    for (const client of clients) await client.until(/^HTTP\/1\.1 200 OK/);
    const completed = gate.ledger.records.filter(({ outcome }) => outcome === "completed");
    assert.deepEqual(
      completed.map((record) => record.bytes_in).sort((one, other) => one - other),
      SIZES,
    );
  },
);

const isAtRest = (req: IncomingMessage) => req.complete || req.socket.isPaused();

/** Collects the requests that HTTP servers of this process receive from now on. */
function collectRequests(t: TestContext): IncomingMessage[] {
  const requests: IncomingMessage[] = [];
  const onStart = (message: unknown) => requests.push((message as { request: IncomingMessage }).request);
  subscribe("http.server.request.start", onStart);
  t.after(() => unsubscribe("http.server.request.start", onStart));
  return requests;
}

/** Reads a request to its end, then sends the response. */
function respondWhenRead(socket: Socket): void {
  let missing = -1;
  socket.on("data", (chunk: Buffer) => {
    const headEnd = chunk.indexOf("\r\n\r\n") + 4;
    const length = Number(/content-length: (\d+)/i.exec(chunk.toString("latin1"))?.[1]);
    missing = missing === -1 ? length - (chunk.length - headEnd) : missing - chunk.length;
    if (missing === 0) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  });
  socket.resume();
}
