import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { startGate } from "../helpers/gate.ts";
import { rawRequest } from "../helpers/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream.ts";

/** More than the system keeps for a client that does not read. */
const PILE = Buffer.alloc(32 * 1024 * 1024, "-");

test("nothing that comes after an answer with connection: close is forwarded, however long that takes to leave", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { gate, ledger } = await startGate(t, upstream.baseUrl);
  const server = createServer((req, res) => void gate.handle(req, res, false));
  server.on("connection", (socket) => {
    gate.accept(socket);
    socket.write(PILE);
  });
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  t.after(() => client.destroy());
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n{`,
  );
  const [, refusal] = await once(server, "request");
  client.write("   ");
  while (!refusal.writableEnded) await once(refusal, "prefinish");
  client.write(rawRequest(port));
  await once(server, "request");
  const received = await buffer(client);
  assert.match(received.subarray(PILE.length).toString(), /^HTTP\/1\.1 415 [^]*connection: close/i);
  assert.deepEqual([upstream.seen.length, ledger.records.length, gate.openExchanges], [0, 0, 0]);
});
