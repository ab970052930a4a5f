import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { startGate } from "../helpers/gate/gate.ts";
import { PILE, startPiledGate } from "../helpers/gate/piled-gate.ts";
import { rawClient, rawRequest } from "../helpers/client/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

test("an answer that has ended but not left yet reaches its client before the drain is over", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { gate, ledger, port, client } = await startPiledGate(t, upstream.baseUrl);
  client.write(rawRequest(port));
  await ledger.only();
  const stopped = gate.drain().then(() => gate.close());
  await setImmediate();
  const received = await buffer(client);
  assert.equal(received.subarray(PILE.length).toString().split("\r\n\r\n")[1], JSON.stringify(MESSAGE));
  await stopped;
});

test("an answer that has ended but not left yet reaches its client although its port was closed", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { ledger, port, client, listener } = await startPiledGate(t, upstream.baseUrl);
  client.write(rawRequest(port));
  await ledger.only();
  const closed = listener.close();
  await setImmediate();
  const received = await buffer(client);
  assert.equal(received.subarray(PILE.length).toString().split("\r\n\r\n")[1], JSON.stringify(MESSAGE));
  await closed;
});

test("a client that has connected, and asks when the stop has begun, is answered, and that is the last", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const drained = gate.gate.drain();
  client.write(rawRequest(gate.port));
  assert.match(await client.closed, /^HTTP\/1\.1 200 [^]*^connection: close\r$[^]*"msg_1"/im);
  await drained;
});

test("a client that has connected, and never asks, is let go", async (t) => {
  const gate = await startGate(t, "http://127.0.0.1:9/v1");
  const client = await rawClient(t, gate.port);
  // It is the daemon's once it is answered.
  client.write(`HEAD / HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
  await client.until(/200 OK/);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const drained = gate.gate.drain();
  t.mock.timers.tick(1_000);
  await drained;
  await client.closed;
});
