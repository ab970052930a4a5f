import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { rawClient, rawRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { BACKLOG, startBlockedGate } from "../../helpers/gate/blocked-gate.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { startGate } from "../../helpers/gate/gate.ts";
import { RecordBatch } from "../../../src/proxy/exchange/record-batch.ts";
import {
  MESSAGE,
  MESSAGE_EVENTS,
  respondWithMessage,
  SSE,
  startUpstream,
} from "../../helpers/upstream/scripted-upstream.ts";

/** Reads a blocked connection to its end; returns the response behind the backlog. */
async function readResponse(client: Socket): Promise<string> {
  return (await buffer(client)).subarray(BACKLOG.length).toString();
}

test("a request that arrives after a response with connection: close is not forwarded, even while that response is still being sent", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const { gate, ledger, port, client, requests } = await startBlockedGate(t, upstream.baseUrl);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n{`,
  );
  const [refusal] = await once(requests, "request");
  client.write("   ");
  while (!refusal.writableEnded) await once(refusal, "prefinish");
  client.write(rawRequest(port));
  await once(requests, "request");
  assert.match(await readResponse(client), /^HTTP\/1\.1 415 [^]*connection: close/i);
  assert.deepEqual([upstream.seen.length, ledger.records.length, gate.openExchanges], [0, 0, 0]);
});

test("a drain waits until a response that has ended has also been sent to its client", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const { gate, ledger, port, client } = await startBlockedGate(t, upstream.baseUrl);
  client.write(rawRequest(port));
  await ledger.only();
  const stopped = gate.drain().then(() => gate.close());
  await setImmediate();
  assert.equal((await readResponse(client)).split("\r\n\r\n")[1], JSON.stringify(MESSAGE));
  await stopped;
});

test("a response that has ended but has not been sent yet reaches its client although the listener was closed", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const { ledger, port, client, listener } = await startBlockedGate(t, upstream.baseUrl);
  client.write(rawRequest(port));
  await ledger.only();
  const closed = listener.close();
  await setImmediate();
  assert.equal((await readResponse(client)).split("\r\n\r\n")[1], JSON.stringify(MESSAGE));
  await closed;
});

test("a client that connected before a drain and sends its request during it gets its response, with connection: close", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage);
  const client = await rawClient(t, gate.port);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const drained = gate.gate.drain();
  client.write(rawRequest(gate.port));
  assert.match(await client.closed, /^HTTP\/1\.1 200 [^]*^connection: close\r$[^]*"msg_1"/im);
  await drained;
});

test("a drain that begins while a response waits for its record also answers the request after that response", async (t) => {
  const { gate } = await startGateWithUpstream(t, (seen, res) => {
    if (seen.body.includes("held")) res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    else respondWithMessage(seen, res);
  });
  // Beside a stream, records wait for the end of their turn of the event loop.
  const stream = await sendRaw(t, gate.port, rawRequest(gate.port, `{"model":"held","stream":true}`));
  await stream.until(/message_start/);
  const add = t.mock.method(RecordBatch.prototype, "add", function (this: RecordBatch, ...given) {
    add.mock.restore();
    this.add(...given);
    // As a signal does that arrives in the same turn.
    void gate.gate.drain();
  } satisfies RecordBatch["add"]);
  const client = await sendRaw(t, gate.port);
  assert.match(await client.until(/"msg_1"/), /^connection: keep-alive\r$/im);
  client.write(rawRequest(gate.port));
  assert.match(await client.closed, /"msg_1"[^]*^connection: close\r$[^]*"msg_1"/im);
});

test("a drain closes an idle connection after one second", async (t) => {
  const gate = await startGate(t, "http://127.0.0.1:9/v1");
  // Once a request on it has been answered, the gate is sure to have accepted the connection.
  const client = await sendRaw(t, gate.port, `HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
  await client.until(/200 OK/);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const drained = gate.gate.drain();
  t.mock.timers.tick(1_000);
  await drained;
  await client.closed;
});
