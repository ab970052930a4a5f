import assert from "node:assert/strict";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { PILE, startPiledGate } from "../helpers/gate/piled-gate.ts";
import { rawRequest } from "../helpers/client/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

test("nothing that comes after an answer with connection: close is forwarded, however long that takes to leave", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { gate, ledger, port, client, requests } = await startPiledGate(t, upstream.baseUrl);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n{`,
  );
  const [refusal] = await once(requests, "request");
  client.write("   ");
  while (!refusal.writableEnded) await once(refusal, "prefinish");
  client.write(rawRequest(port));
  await once(requests, "request");
  const received = await buffer(client);
  assert.match(received.subarray(PILE.length).toString(), /^HTTP\/1\.1 415 [^]*connection: close/i);
  assert.deepEqual([upstream.seen.length, ledger.records.length, gate.openExchanges], [0, 0, 0]);
});
