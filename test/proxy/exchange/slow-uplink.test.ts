import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { rawClient } from "../../helpers/client/raw-client.ts";
import { startGate, withLimits } from "../../helpers/gate/gate.ts";
import { startTcpUpstream } from "../../helpers/upstream/tcp-upstream.ts";

/** One of these is read to its end before the upstream has taken all of it, whatever the system's buffers are. */
const SIZES = Array.from({ length: 12 }, (_, i) => (i + 1) * 512 * 1024);

const head = (port: number, length: number) =>
  `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

test(
  "a client whose body is all here is not cut for the time that the upstream takes to read it",
  { timeout: 20_000 },
  async (t) => {
    const sockets: Socket[] = [];
    const upstream = await startTcpUpstream(t, (socket) => sockets.push(socket.pause()));
    const gate = await startGate(t, upstream.baseUrl, withLimits({ bodyIdleMs: 100 }));
    const patient = await Promise.all(SIZES.map(() => rawClient(t, gate.port)));
    for (const [i, size] of SIZES.entries()) patient[i]?.write(head(gate.port, size) + "x".repeat(size));
    // A client that does fall silent has run into the limit twice by the time that the upstream reads on.
    for (let i = 0; i < 2; i += 1) {
      const silent = await rawClient(t, gate.port);
      silent.write(`${head(gate.port, 10)}{`);
      await silent.until(/^HTTP\/1\.1 408 /);
    }
    for (const socket of sockets) answerWhenRead(socket);
    for (const client of patient) await client.until(/^HTTP\/1\.1 200 OK/);
    const done = gate.ledger.records.filter(({ outcome }) => outcome === "completed");
    assert.deepEqual(
      done.map((record) => record.bytes_in).sort((one, other) => one - other),
      SIZES,
    );
  },
);

/** Reads a request to its end, then answers it. */
function answerWhenRead(socket: Socket): void {
  let missing = -1;
  socket.on("data", (chunk: Buffer) => {
    const headEnd = chunk.indexOf("\r\n\r\n") + 4;
    const length = Number(/content-length: (\d+)/i.exec(chunk.toString("latin1"))?.[1]);
    missing = missing === -1 ? length - (chunk.length - headEnd) : missing - chunk.length;
    if (missing === 0) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  });
  socket.resume();
}
