// C9, a body that names one model to tollkeeper and another to the upstream: where the model chooses the upstream, exactly one is
// read, by strict JSON in the whole body, and until then nothing has left that the upstream could execute.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { beginRequest, rawClient } from "../helpers/client/raw-client.ts";
import { startGate, type TestGate } from "../helpers/gate/gate.ts";
import { chunksOf, describe, EARLY, LATE, type SmuggledModel } from "./smuggled-models.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

/** An upstream that keeps every byte that it gets, and answers only what ends like a whole request, which none of these may. */
async function startListening(t: TestContext) {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received.push(chunk);
      if (/(?:\}|\r\n0\r\n\r\n)$/.test(chunk.toString("latin1"))) socket.end(OK);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, text: () => Buffer.concat(received).toString("latin1") };
}

/** A gate whose choice depends on the model, in front of such an upstream. */
async function start(t: TestContext) {
  const upstream = await startListening(t);
  const gate = await startGate(t, upstream.baseUrl, { upstream: { models: ["good*"] } });
  return { gate, upstream };
}

/** Sends a body in chunks, each of which reaches the gate by itself, the last one after `beforeLast`; returns the response. */
async function sendChunks(
  t: TestContext,
  gate: TestGate,
  smuggled: SmuggledModel,
  isChunked: boolean,
  beforeLast: () => Promise<unknown> = () => setImmediate(),
) {
  const { contentType = "application/json", contentEncoding } = smuggled;
  const chunks = chunksOf(smuggled);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const coding = contentEncoding === undefined ? "" : `\r\nContent-Encoding: ${contentEncoding}`;
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, framing + coding).replace("application/json", contentType));
  for (const [index, chunk] of chunks.entries()) {
    if (index === chunks.length - 1) await beforeLast();
    client.write(isChunked ? `${chunk.length.toString(16)}\r\n${chunk}\r\n` : chunk);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  }
  if (isChunked) client.write("0\r\n\r\n");
  return client.until(/\r\n\r\n[^]*\}$/);
}

for (const isChunked of [true, false]) {
  const framing = isChunked ? "chunked" : "of known length";

  for (const smuggled of LATE) {
    test(`${describe(smuggled)}, ${framing}, is refused, and the upstream has nothing that it could execute`, async (t) => {
      const { gate, upstream } = await start(t);
      const response = await sendChunks(t, gate, smuggled, isChunked, () =>
        waitUntil("the beginning, which leaves before the trick comes", () => upstream.text() !== "" || null),
      );
      assert.match(response, /^HTTP\/1\.1 400 [^]*x-tollkeeper-refusal: model_unreadable/i);
      const sent = upstream.text();
      assert.match(sent, /^POST /);
      assert.ok(!sent.includes("evil"), "the other model has left");
      assert.ok(!sent.endsWith("0\r\n\r\n"), "the end of the body has left");
      const body = sent.slice(sent.indexOf("\r\n\r\n") + 4);
      assert.ok(!/[^\\]"\}/.test(body), "the last brace has left");
      const { outcome, error_type, status } = await gate.ledger.only();
      assert.deepEqual([outcome, error_type, status], ["rejected", "model_unreadable", 400]);
    });
  }

  for (const smuggled of EARLY) {
    test(`${describe(smuggled)}, ${framing}, is refused, and nothing of it has left`, async (t) => {
      const { gate, upstream } = await start(t);
      const response = await sendChunks(t, gate, smuggled, isChunked);
      assert.match(response, /^HTTP\/1\.1 400 [^]*x-tollkeeper-refusal: model_unreadable/i);
      assert.equal(upstream.text(), "");
    });
  }
}
