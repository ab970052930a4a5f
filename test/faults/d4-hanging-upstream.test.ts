// D4, a hanging upstream: an upstream that hangs while connecting, before its head or within its response is given up after a
// configurable limit, with 504 where no response has begun, and its connection is closed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { getConnectLimitMs } from "../../src/proxy/upstream/deadline.ts";
import { startGate, withLimits } from "../helpers/gate/gate.ts";
import { holdTime, passTimeUntil } from "../helpers/async/hold-time.ts";
import { readMessages, valuesOf } from "../helpers/client/http-messages.ts";
import {
  beginRequest,
  rawClient,
  rawRequest,
  type RawClient,
  sendRaw,
} from "../helpers/client/raw-client.ts";
import { startFullListener, startTcpUpstream, waitUntilStill } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE_EVENTS, SSE, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithRawUpstream, startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { CHUNK, MIB, repeat } from "./floods/scenario.ts";

const LIMIT = { timeout: 300_000 };

/** Fails unless the client receives a 504 in the shape of the route's API whose message matches. */
async function assertTimeout(client: RawClient, words: RegExp): Promise<void> {
  const [response] = readMessages(await client.until(/\}\}$/)).messages;
  assert.ok(response);
  assert.match(response.start, /^HTTP\/1\.1 504 /);
  assert.deepEqual(valuesOf(response, "x-tollkeeper-refusal"), ["upstream_timeout"]);
  const { type, error } = JSON.parse(response.body) as { type: string; error: { message: string } };
  assert.equal(type, "error");
  assert.match(error.message, words);
  // The upstream has all of it, and may have done it.
  const isWhole = error.message.includes("it sent nothing");
  assert.deepEqual(valuesOf(response, "x-should-retry"), isWhole ? ["false"] : []);
}

/** Upstreams with which no connection can be established. `begun` resolves once the attempt has begun. */
const UNREACHABLE: [
  what: string,
  start: (t: TestContext) => Promise<[baseUrl: string, begun: Promise<unknown>]>,
][] = [
  [
    "does not accept the connection",
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
    `an upstream that ${what} causes a 504 after the limit, which says that it has not seen the request`,
    LIMIT,
    async (t) => {
      const [baseUrl, begun] = await start(t);
      const gate = await startGate(t, baseUrl);
      const client = await rawClient(t, gate.port);
      const pass = holdTime(t);
      client.write(rawRequest(gate.port));
      await begun;
      await waitUntilStill(() => gate.gate.openExchanges);
      pass(getConnectLimitMs(Infinity) - 1);
      assert.deepEqual([gate.gate.openExchanges, gate.ledger.records.length], [1, 0]);
      pass(1);
      await assertTimeout(client, /no connection within 30000 ms/);
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
  // A body that is sent would begin the limit, too.
  client.write(`GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\n\r\n`);
  const socket = await upstream.first;
  const closed = once(socket, "close");
  // The connection is opened ahead of the request, which then waits for it.
  while (gate.gate.openExchanges === 0) await setImmediate();
  pass(getConnectLimitMs(Infinity));
  await closed;
});

function* repeatForever(chunk: string): Generator<string> {
  for (;;) yield chunk;
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: te";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";

/** What an upstream sends before it hangs, and what a dripping one sends in each millisecond. */
const BEFORE_HEAD: [what: string, sent: string, dripped: Iterable<string>][] = [
  ["sends nothing", "", []],
  ["stops within its head", HEAD, []],
  ["sends only early hints", HINTS, []],
  ["drips its head byte by byte", "", HEAD + "x".repeat(60)],
  ["sends early hints forever", HINTS, repeatForever(HINTS)],
];

for (const [what, sent, dripped] of BEFORE_HEAD) {
  test(
    `an upstream that ${what} causes a 504 after the limit on the first byte, and its connection is closed`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(
        t,
        (_request, { socket }) => void socket.write(sent),
        withLimits({ firstByteMs: 60 }),
      );
      const client = await rawClient(t, gate.port);
      const pass = holdTime(t);
      client.write(rawRequest(gate.port));
      while (upstream.requests.length === 0) await setImmediate();
      await waitUntilStill(() => gate.gate.openExchanges);
      const drops = dripped[Symbol.iterator]();
      for (let ms = 0; ms < 59; ms += 1) {
        upstream.connections[0]?.socket.write(drops.next().value ?? "");
        await setImmediate();
        pass(1);
      }
      assert.deepEqual([gate.gate.openExchanges, gate.ledger.records.length], [1, 0]);
      // Less than the limit, so that whoever counts from the last byte waits longer.
      pass(30);
      await assertTimeout(client, /(?:it sent nothing|it read none of it) for 60 ms .*limits\.firstByteMs/);
      await upstream.connections[0]?.closed;
      const record = await gate.ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "proxy", 504]);
    },
  );
}

test(
  "a client that pauses within its upload does not use up the time limit of the upstream",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startGateWithUpstream(
      t,
      respondWithMessage,
      withLimits({ firstByteMs: 250, bodyIdleMs: 5_000 }),
    );
    const client = await rawClient(t, gate.port);
    const requested = once(upstream.server, "request");
    const passTime = holdTime(t);
    client.write(beginRequest(gate.port, "Content-Length: 2") + "{");
    await requested;
    passTime(750);
    client.write("}");
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 /);
  },
);

test("an upstream that reads nothing of an upload causes a 504 after the limit", LIMIT, async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.pause());
  const gate = await startGate(t, upstream.baseUrl, withLimits({ firstByteMs: 60 }));
  const client = await rawClient(t, gate.port);
  const bytes = 16 * 1024 * 1024;
  client.write(beginRequest(gate.port, `Content-Length: ${bytes}`));
  client.socket.write(Buffer.alloc(bytes, "x"));
  await assertTimeout(client, /read none of it for 60 ms .*limits\.firstByteMs/);
});

for (const [kind, type, body] of [
  ["stream", "text/event-stream", MESSAGE_EVENTS[0]],
  ["JSON response", "application/json", `{"id":"message_start"`],
] as const) {
  test(
    `an upstream that falls silent in a ${kind} is cut after the limit, and its connection is closed`,
    LIMIT,
    async (t) => {
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
      const { upstream, gate } = await startGateWithRawUpstream(
        t,
        (_request, { socket }) =>
          socket.write(
            `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`,
          ),
        withLimits({ betweenBytesMs: 50 }),
      );
      const client = await sendRaw(t, gate.port);
      const received = await client.closed;
      assert.match(received, /message_start/);
      assert.equal(readMessages(received).messages.length, 0);
      await upstream.connections[0]?.closed;
      const record = await gate.ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "proxy", 200]);
    },
  );
}

test("the limit between bytes does not run while the client does not read", LIMIT, async (t) => {
  const progress = { chunks: 0 };
  const { gate } = await startGateWithUpstream(
    t,
    ({ url }, res) => {
      res.writeHead(200, SSE);
      if (url === "/v1/messages") {
        const body = Readable.from(repeat(CHUNK, 32), { highWaterMark: 1 });
        body.on("data", () => (progress.chunks += 1)).pipe(res);
      } else res.write(MESSAGE_EVENTS[0]);
    },
    withLimits({ betweenBytesMs: 300 }),
  );
  const client = await rawClient(t, gate.port);
  const passTime = holdTime(t);
  client.socket.pause();
  client.write(rawRequest(gate.port));
  while (progress.chunks === 0) await setImmediate();
  await waitUntilStill(() => progress.chunks);
  const silent = await sendRaw(t, gate.port, rawRequest(gate.port).replace("/v1/messages", "/v1/responses"));
  await passTimeUntil(silent.closed, () => passTime(300));
  client.socket.resume();
  const record = (await gate.ledger.first(2)).at(-1);
  assert.deepEqual([record?.route, record?.bytes_out], ["/messages", 32 * MIB]);
});
