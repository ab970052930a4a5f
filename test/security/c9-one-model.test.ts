// C9, a body that names one model to tollkeeper and another to the upstream: where the model chooses the upstream, exactly one is
// read, by strict JSON in the whole body, and until then nothing has left that the upstream could execute.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { beginRequest, rawClient } from "../helpers/client/raw-client.ts";
import { startGate, type TestGate } from "../helpers/gate/gate.ts";

/** An upstream that keeps every byte that it gets and answers nothing. */
async function startListening(t: TestContext) {
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => received.push(chunk));
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

/** Sends a body in chunks, each of which reaches the gate by itself; returns the response. */
async function sendChunks(t: TestContext, gate: TestGate, chunks: readonly string[], isChunked: boolean) {
  const length = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk, "latin1"), 0);
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, framing));
  for (const chunk of chunks) {
    client.write(isChunked ? `${chunk.length.toString(16)}\r\n${chunk}\r\n` : chunk);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  }
  if (isChunked) client.write("0\r\n\r\n");
  return client.until(/\r\n\r\n[^]*\}$/);
}

const FILL = "x".repeat(70_000);

/** Bodies whose first model is `good` and that an upstream could read differently, in the chunks in which they arrive. */
const SMUGGLED: Record<string, string[]> = {
  "another model at the end": ['{"model":"good",', `"input":"${FILL}",`, '"model":"evil"}'],
  "an escaped model at the end": ['{"model":"good",', `"input":"${FILL}",`, '"mod\\u0065l":"evil"}'],
  "a model in capitals": ['{"model":"good",', `"input":"${FILL}",`, '"MODEL":"evil"}'],
  "a second object": ['{"model":"good","input":"', FILL, '"}', '{"model":"evil"}'],
  "a second object in the same chunk": ['{"model":"good","input":"', FILL, '"}{"model":"evil"}'],
  "text after the object": ['{"model":"good","input":"', FILL, '"}', "\u0000"],
  "a comment": ['{"model":"good",', `"input":"${FILL}",`, '/*"*/"model":"evil"/*"*/}'],
  "no end": ['{"model":"good",', `"input":"${FILL}"`],
  "much white space": ['{"model":"good","input":"', FILL, '"}', " ".repeat(2000)],
};

for (const [what, chunks] of Object.entries(SMUGGLED)) {
  for (const isChunked of [true, false]) {
    const framing = isChunked ? "chunked" : "of known length";
    test(`a body ${framing} with ${what} is refused, and the upstream has nothing that it could execute`, async (t) => {
      const { gate, upstream } = await start(t);
      const response = await sendChunks(t, gate, chunks, isChunked);
      assert.match(response, /^HTTP\/1\.1 400 [^]*x-tollkeeper-refusal: model_unreadable/i);
      const sent = upstream.text();
      assert.ok(!sent.includes("evil"), "the other model has left");
      assert.ok(!sent.endsWith("0\r\n\r\n"), "the end of the body has left");
      const body = sent.slice(sent.indexOf("\r\n\r\n") + 4);
      assert.ok(!/[^\\]"\}/.test(body), "the last brace has left");
      const record = await gate.ledger.only();
      assert.deepEqual(
        [record.outcome, record.error_type, record.status],
        ["rejected", "model_unreadable", 400],
      );
    });
  }
}

for (const [what, body] of [
  ["two models", '{"model":"good","model":"evil"}'],
  ["an escaped model", '{"mod\\u0065l":"evil","model":"good"}'],
  ["a byte order mark", '\u00ef\u00bb\u00bf{"model":"good"}'],
  ["no model", '{"input":"x"}'],
  ["no object", '"good"'],
] as const) {
  test(`a small body with ${what} is refused, and nothing of it has left`, async (t) => {
    const { gate, upstream } = await start(t);
    const response = await sendChunks(t, gate, [body], false);
    assert.match(response, /^HTTP\/1\.1 400 [^]*x-tollkeeper-refusal: model_unreadable/i);
    assert.ok(!upstream.text().includes("HTTP/1.1"), "a request has left");
  });
}
