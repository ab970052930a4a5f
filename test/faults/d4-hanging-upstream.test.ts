// D4, a hanging upstream: an upstream that hangs, in connecting, before its head or within its answer, is given up after a settable limit: 504 where nothing was answered yet, and its connection is closed.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { CONNECT_LIMIT_MS } from "../../src/proxy/upstream/deadline.ts";
import { startGate, withLimits } from "../helpers/gate/gate.ts";
import { holdTime } from "../helpers/async/hold-time.ts";
import { readMessages, valuesOf } from "../helpers/client/http-messages.ts";
import { beginRequest, rawClient, rawRequest, type RawClient } from "../helpers/client/raw-client.ts";
import { startRawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { startFullListener, startTcpUpstream, untilStill } from "../helpers/upstream/tcp-upstream.ts";
import { answerJson, MESSAGE, MESSAGE_EVENTS, SSE, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };

/** The 504 in the shape of the route's API. */
async function assertTimeout(client: RawClient, words: RegExp): Promise<void> {
  const [answer] = readMessages(await client.until(/\}\}$/)).messages;
  assert.ok(answer);
  assert.match(answer.start, /^HTTP\/1\.1 504 /);
  assert.deepEqual(valuesOf(answer, "x-tollkeeper-refusal"), ["upstream_timeout"]);
  const { type, error } = JSON.parse(answer.body) as { type: string; error: { message: string } };
  assert.equal(type, "error");
  assert.match(error.message, words);
}

/** What makes a connection impossible, and the sign that it was begun. */
const UNREACHABLE: [
  what: string,
  start: (t: TestContext) => Promise<[baseUrl: string, begun: Promise<unknown>]>,
][] = [
  [
    "does not take the connection",
    async (t) => [`http://127.0.0.1:${await startFullListener(t)}/v1`, Promise.resolve()],
  ],
  [
    "hangs within the TLS handshake",
    async (t) => {
      const upstream = await startTcpUpstream(t, (socket) => socket.resume());
      const begun = upstream.first.then((socket) => once(socket, "data"));
      return [`https://127.0.0.1:${upstream.port}/v1`, begun];
    },
  ],
];

for (const [what, start] of UNREACHABLE) {
  test(
    `an upstream that ${what} is a 504 after the limit, and nobody has seen the request`,
    LIMIT,
    async (t) => {
      const [baseUrl, begun] = await start(t);
      const gate = await startGate(t, baseUrl);
      const client = await rawClient(t, gate.port);
      const pass = holdTime(t);
      client.write(rawRequest(gate.port));
      await begun;
      await untilStill(() => gate.gate.openExchanges);
      pass(CONNECT_LIMIT_MS - 1);
      assert.deepEqual([gate.gate.openExchanges, gate.ledger.records.length], [1, 0]);
      pass(1);
      await assertTimeout(client, /did not accept a connection within 30000 ms/);
      const record = await gate.ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.status], ["rejected", null, 504]);
      assert.equal(gate.gate.openExchanges, 0);
    },
  );
}

test("the connection of an upstream that hangs within the TLS handshake is closed", LIMIT, async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.resume());
  const gate = await startGate(t, `https://127.0.0.1:${upstream.port}/v1`);
  const client = await rawClient(t, gate.port);
  const pass = holdTime(t);
  client.write(rawRequest(gate.port));
  const socket = await upstream.first;
  const closed = once(socket, "close");
  // The connection is opened ahead of the request, which then waits with it.
  while (gate.gate.openExchanges === 0) await setImmediate();
  pass(CONNECT_LIMIT_MS);
  await closed;
});

/** Says a piece, and the next one when the last has left and a moment is over, for as long as the connection lasts. */
function drip(socket: Socket, pieces: Iterator<string>): void {
  const timer = setInterval(() => {
    const { value, done } = pieces.next();
    if (done === true || socket.destroyed) clearInterval(timer);
    else socket.write(value);
  }, 10);
}

function* forEver(piece: string): Generator<string> {
  for (;;) yield piece;
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: te";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";

const BEFORE_HEAD: [what: string, play: (socket: Socket) => void][] = [
  ["says nothing", () => {}],
  ["stops within its head", (socket) => void socket.write(HEAD)],
  ["has given early hints only", (socket) => void socket.write(HINTS)],
  ["drips its head byte by byte", (socket) => drip(socket, `${HEAD}${"x".repeat(9_000)}`[Symbol.iterator]())],
  ["gives early hints for ever", (socket) => drip(socket, forEver(HINTS))],
];

for (const [what, act] of BEFORE_HEAD) {
  test(
    `an upstream that ${what} is a 504 after the limit to the first byte, and is closed`,
    LIMIT,
    async (t) => {
      const upstream = await startRawUpstream(t, (_request, { socket }) => act(socket));
      const gate = await startGate(t, upstream.baseUrl, withLimits({ firstByteMs: 60 }));
      const client = await rawClient(t, gate.port);
      client.write(rawRequest(gate.port));
      await assertTimeout(client, /sent no answer for 60 ms .*limits\.firstByteMs/);
      await upstream.connections[0]?.closed;
      const record = await gate.ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "proxy", 504]);
    },
  );
}

test("a client that pauses within its upload does not use up the upstream's time", LIMIT, async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl, withLimits({ firstByteMs: 250, bodyIdleMs: 5_000 }));
  const client = await rawClient(t, gate.port);
  const connected = once(upstream.server, "connection");
  client.write(beginRequest(gate.port, "Content-Length: 2") + "{");
  await connected;
  // The pause itself: three times as long as the upstream has for its answer.
  await delay(750);
  client.write("}");
  assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
});

test("an upstream that takes nothing of an upload is a 504 after the limit", LIMIT, async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.pause());
  const gate = await startGate(t, upstream.baseUrl, withLimits({ firstByteMs: 60 }));
  const client = await rawClient(t, gate.port);
  const bytes = 16 * 1024 * 1024;
  client.write(beginRequest(gate.port, `Content-Length: ${bytes}`));
  client.socket.write(Buffer.alloc(bytes, "x"));
  await assertTimeout(client, /took nothing of the request for 60 ms .*limits\.firstByteMs/);
});

for (const [kind, type, body] of [
  ["stream", "text/event-stream", MESSAGE_EVENTS[0]],
  ["JSON answer", "application/json", `{"id":"message_start"`],
] as const) {
  test(
    `an upstream that falls silent in a ${kind} is cut after the limit, and is closed`,
    LIMIT,
    async (t) => {
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
      const upstream = await startRawUpstream(t, (_request, { socket }) =>
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`,
        ),
      );
      const gate = await startGate(t, upstream.baseUrl, withLimits({ betweenBytesMs: 50 }));
      const client = await rawClient(t, gate.port);
      client.write(rawRequest(gate.port));
      const received = await client.closed;
      assert.match(received, /message_start/);
      assert.equal(readMessages(received).messages.length, 0);
      await upstream.connections[0]?.closed;
      const record = await gate.ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "proxy", 200]);
    },
  );
}

test("a silence that the client makes by not reading is not the upstream's", LIMIT, async (t) => {
  const body = Buffer.alloc(32 * 1024 * 1024, "-");
  const upstream = await startUpstream(t, (seen, res) => {
    res.writeHead(200, SSE);
    if (seen.url === "/v1/messages") res.end(body);
    else res.write(MESSAGE_EVENTS[0]);
  });
  const gate = await startGate(t, upstream.baseUrl, withLimits({ betweenBytesMs: 300 }));
  const client = await rawClient(t, gate.port);
  client.socket.pause();
  client.write(rawRequest(gate.port));
  await untilStill(() => gate.gate.openExchanges);
  // Silences that begin later, one after another, have run into the limit before the client reads again.
  for (let i = 0; i < 3; i += 1) {
    const silent = await rawClient(t, gate.port);
    silent.write(rawRequest(gate.port).replace("/v1/messages", "/v1/responses"));
    await silent.closed;
  }
  client.socket.resume();
  const record = (await gate.ledger.first(4)).at(-1);
  assert.deepEqual([record?.route, record?.bytes_out], ["/messages", body.length]);
});
