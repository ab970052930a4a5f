import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { PILE, startPiledGate } from "../helpers/piled-gate.ts";
import { rawRequest } from "../helpers/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream.ts";

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
