// D2, truncated answers: an answer that the upstream broke off never looks complete to the client, and its record says who cut it.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { startGate, TEST_KEY } from "../helpers/gate/gate.ts";
import { readMessages } from "../helpers/client/http-messages.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";
import { startPiledGate } from "../helpers/gate/piled-gate.ts";
import { rawClient, rawRequest } from "../helpers/client/raw-client.ts";
import { startRawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { startTcpUpstream, untilStill } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE, MESSAGE_EVENTS, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { BROKEN_BODIES, CUTS, exactly, hexLength, STREAM_HEAD, UNFRAMED } from "./cuts.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };

for (const { kind, head, body, usage, input } of BROKEN_BODIES) {
  for (const [what, field, frame] of CUTS) {
    for (const ending of ["end", "reset"]) {
      test(
        `a ${kind} that the upstream breaks off ${what} (${ending}) is cut for the client too`,
        LIMIT,
        async (t) => {
          const upstream = await startRawUpstream(t, (_request, { socket }) => {
            socket.write(`HTTP/1.1 200 OK\r\n${head}${field}\r\n${frame(body)}`, "latin1");
          });
          const gate = await startGate(t, upstream.baseUrl);
          const client = await rawClient(t, gate.port);
          client.write(rawRequest(gate.port));
          await client.until(exactly(body));
          const socket = upstream.connections[0]?.socket;
          if (ending === "end") socket?.end();
          else socket?.resetAndDestroy();
          assertCut(await client.closed, body);
          const record = await gate.ledger.only();
          assert.deepEqual(
            [record.outcome, record.cut_by, record.usage, record.tokens?.input_total],
            ["cut", "upstream", usage, input],
          );
        },
      );
    }
  }
}

for (const { kind, path, head, body, record: expected } of UNFRAMED) {
  test(`${kind} that the end of the connection cuts off is cut for the client too`, LIMIT, async (t) => {
    const upstream = await startRawUpstream(t, (_request, { socket }) => {
      socket.end(`HTTP/1.1 ${head}\r\n${body}`);
    });
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(
      path === "/v1/models" ? getModels(gate.port) : rawRequest(gate.port).replace("/v1/messages", path),
    );
    // Of an error the end is withheld that could be the beginning of our key.
    assertCut(await client.closed, body.slice(0, 10));
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.usage], expected);
  });
}

const getModels = (port: number) => `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;

/** The client got the bytes that there were, and no end that it could take for the end of the answer. */
function assertCut(received: string, body: string): void {
  const { messages, rest } = readMessages(received);
  assert.deepEqual([messages.length, rest === "", received.includes(body)], [0, false, true], received);
}

test(
  "usage that comes in one piece with a fault of framing is counted, and the answer cut",
  LIMIT,
  async (t) => {
    const [event] = MESSAGE_EVENTS;
    const chunk = `${hexLength(event)}\r\n${event}\r\n`;
    const upstream = await startRawUpstream(t, (_request, { socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\n${STREAM_HEAD}transfer-encoding: chunked\r\n\r\n${chunk}no chunk\r\n`);
    });
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(rawRequest(gate.port));
    assert.deepEqual(readMessages(await client.closed).messages, []);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage, record.tokens?.input_total],
      ["cut", "upstream", "partial", 3],
    );
  },
);

/** More than is read ahead for a client that does not read. */
const MANY_EVENTS = ": more to come\n\n".repeat(200_000);

for (const [what, field, frame] of [
  ["of a length", "content-length: 50000000\r\n", (body: string) => body],
  ["in chunks", "transfer-encoding: chunked\r\n", (body: string) => `${hexLength(body)}\r\n${body}\r\n`],
  ["without either", "", (body: string) => body],
] as const) {
  for (const ending of ["end", "reset"]) {
    // undici's parser throws here, where nobody can catch it, because it is paused.
    test(
      `an answer ${what} that breaks off (${ending}) while its client does not read is cut`,
      LIMIT,
      async (t) => {
        const upstream = await startRawUpstream(t, (_request, { socket }) => {
          socket.write(`HTTP/1.1 200 OK\r\n${STREAM_HEAD}${field}\r\n${frame(MANY_EVENTS)}`, "latin1");
        });
        const { client, gate, ledger, port } = await startPiledGate(t, upstream.baseUrl);
        client.write(rawRequest(port));
        while (upstream.requests.length === 0) await setImmediate();
        const [connection] = upstream.connections;
        await untilStill(() => connection?.socket.bytesWritten ?? 0);
        if (ending === "end") connection?.socket.end();
        else connection?.socket.resetAndDestroy();
        await untilStill(() => gate.openExchanges);
        let last = Buffer.alloc(0);
        client.on("data", (bytes: Buffer) => (last = Buffer.concat([last, bytes]).subarray(-16)));
        client.on("error", () => {});
        await once(client, "close");
        assert.ok(!last.toString().endsWith("\r\n0\r\n\r\n"));
        const record = await ledger.only();
        assert.deepEqual([record.outcome, record.cut_by, gate.openExchanges], ["cut", "upstream", 0]);
      },
    );
  }
}

test(
  "a whole answer is whole, also when a reset follows it before the client could take it",
  LIMIT,
  async (t) => {
    const body = JSON.stringify(MESSAGE);
    // In two pieces, of which the second waits for the client.
    const [first = "", ...rest] = [body.slice(0, 9), body.slice(9), ""].map(
      (piece) => `${hexLength(piece)}\r\n${piece}\r\n`,
    );
    const upstream = await startRawUpstream(t, (_request, { socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${first}`);
    });
    const { client, gate, ledger, port } = await startPiledGate(t, upstream.baseUrl);
    client.write(rawRequest(port));
    while (upstream.requests.length === 0) await setImmediate();
    await untilStill(() => gate.openExchanges);
    upstream.connections[0]?.socket.write(rest.join(""));
    await untilStill(() => gate.openExchanges);
    upstream.connections[0]?.socket.resetAndDestroy();
    await untilStill(() => gate.openExchanges);
    assert.equal(gate.openExchanges, 1);
    let received = "";
    client.setEncoding("latin1").on("data", (text: string) => (received = (received + text).slice(-4096)));
    while (!received.endsWith("\r\n0\r\n\r\n")) await once(client, "data");
    assert.equal(readMessages(received.replace(/^-+/, "")).messages[0]?.body, body);
    const record = await ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.usage], ["completed", null, "final"]);
  },
);

test("an answer that TLS ends without a goodbye is cut for the client too", LIMIT, async (t) => {
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  const [event] = MESSAGE_EVENTS;
  const bodies = [`transfer-encoding: chunked\r\n\r\n${hexLength(event)}\r\n${event}\r\n`, `\r\n${event}`];
  const connections: Socket[] = [];
  const upstream = await startTcpUpstream(t, (raw) => {
    const body = bodies[connections.push(raw) - 1];
    const socket = new TLSSocket(raw, { isServer: true, key: certificate.key, cert: certificate.cert });
    socket.on("error", () => {});
    socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${body}`));
  });
  const { config } = keyInFile(t, `https://127.0.0.1:${upstream.port}/v1`, TEST_KEY);
  const daemon = await startDaemon(t, { config, env: { NODE_EXTRA_CA_CERTS: certificate.file } });
  for (const number of bodies.keys()) {
    const client = await rawClient(t, daemon.port);
    client.write(rawRequest(daemon.port));
    await client.until(/message_start/);
    // The connection below TLS ends.
    connections[number]?.end();
    assertCut(await client.closed, event);
  }
  assert.deepEqual(
    (await daemon.ledger()).map(({ outcome, cut_by, tokens }) => [outcome, cut_by, tokens?.input_total]),
    bodies.map(() => ["cut", "upstream", 3]),
  );
});

for (const status of [204, 307]) {
  test(`a whole answer of status ${status} without a body is not taken for a cut one`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => res.writeHead(status, { location: "/x" }).end());
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(rawRequest(gate.port));
    await client.until(/^HTTP\/1\.1 \d+/);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage],
      [status === 204 ? "completed" : "error", null, "absent"],
    );
  });
}

test("a body that the end of the connection delimits is whole when that end is clean", LIMIT, async (t) => {
  const upstream = await startRawUpstream(t, (_request, { socket }) => {
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(MESSAGE)}`);
  });
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const [answer] = readMessages(await client.until(/\r\n0\r\n\r\n/)).messages;
  assert.equal(answer?.body, JSON.stringify(MESSAGE));
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.usage], ["completed", null, "final"]);
});
