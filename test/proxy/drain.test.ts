import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { startGate } from "../helpers/gate.ts";
import { rawRequest } from "../helpers/raw-client.ts";
import { answerJson, MESSAGE, startUpstream } from "../helpers/upstream.ts";

/** More than the system keeps for a client that does not read. */
const PILE = Buffer.alloc(32 * 1024 * 1024, "-");

test("an answer that has ended but not left yet reaches its client before the drain is over", async (t) => {
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
  client.write(rawRequest(port));
  await ledger.only();
  const stopped = gate.drain().then(() => gate.close());
  await setImmediate();
  const received = await buffer(client);
  assert.equal(received.subarray(PILE.length).toString().split("\r\n\r\n")[1], JSON.stringify(MESSAGE));
  await stopped;
});
