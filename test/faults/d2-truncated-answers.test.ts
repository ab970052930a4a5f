// D2, truncated answers: an answer that the upstream broke off never looks complete to the client, and its record says who cut it.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { TLSSocket } from "node:tls";
import { makeCertificate } from "../helpers/certificate.ts";
import { startDaemon } from "../helpers/daemon.ts";
import { startGate, TEST_KEY } from "../helpers/gate.ts";
import { readMessages } from "../helpers/http-messages.ts";
import { keyInFile } from "../helpers/key-file.ts";
import { rawClient, rawRequest } from "../helpers/raw-client.ts";
import { startRawUpstream } from "../helpers/raw-upstream.ts";
import { startTcpUpstream } from "../helpers/tcp-upstream.ts";
import { MESSAGE, MESSAGE_EVENTS, startUpstream } from "../helpers/upstream.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };

/** The beginning of an answer, and what the record must say of it. */
const BODIES = [
  { kind: "stream", type: "text/event-stream", body: MESSAGE_EVENTS[0], usage: "partial", input: 3 },
  {
    kind: "JSON",
    type: "application/json",
    body: JSON.stringify(MESSAGE).split(`,"content"`)[0] ?? "",
    usage: "absent",
    input: undefined,
  },
] as const;

const hexLength = (body: string) => body.length.toString(16);

/** Framings, each broken off. Where the end of the connection is the end of the body, the answer itself tells that it is none. */
const CUTS: [what: string, field: string, frame: (body: string) => string, endings: ("end" | "reset")[]][] = [
  ["short of its length", "content-length: 500\r\n", (body) => body, ["end", "reset"]],
  [
    "without a last chunk",
    "transfer-encoding: chunked\r\n",
    (body) => `${hexLength(body)}\r\n${body}\r\n`,
    ["end", "reset"],
  ],
  ["within a chunk", "transfer-encoding: chunked\r\n", (body) => `fff\r\n${body}`, ["end", "reset"]],
  [
    "within its last chunk",
    "transfer-encoding: chunked\r\n",
    (body) => `${hexLength(body)}\r\n${body}\r\n0\r\n`,
    ["end", "reset"],
  ],
  ["without a length", "", (body) => body, ["end", "reset"]],
];

for (const { kind, type, body, usage, input } of BODIES) {
  for (const [what, field, frame, endings] of CUTS) {
    for (const ending of endings) {
      test(
        `a ${kind} that the upstream breaks off ${what} (${ending}) is cut for the client too`,
        LIMIT,
        async (t) => {
          const upstream = await startRawUpstream(t, (_request, { socket }) => {
            socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${field}\r\n${frame(body)}`);
          });
          const gate = await startGate(t, upstream.baseUrl);
          const client = await rawClient(t, gate.port);
          client.write(rawRequest(gate.port));
          await client.until(/claude-sonnet/);
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

/** The client got the bytes that there were, and no end that it could take for the end of the answer. */
function assertCut(received: string, body: string): void {
  const { messages, rest } = readMessages(received);
  assert.deepEqual([messages.length, rest === "", received.includes(body)], [0, false, true], received);
}

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
