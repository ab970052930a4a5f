import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { defaultConfig } from "../../src/core/config.ts";
import { post, startGate } from "../helpers/gate.ts";
import { rawClient } from "../helpers/raw-client.ts";
import { answerJson, MESSAGE, MESSAGE_EVENTS, startUpstream } from "../helpers/upstream.ts";

const BODY = `{"model":"m","stream":true}`;
const request = (port: number) =>
  `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** An upstream of raw bytes: answers each connection's first data with `bytes`, then does `then`. */
async function rawUpstream(t: TestContext, bytes: string, then: "end" | "reset" | "stay"): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(bytes, "latin1", () => {
        if (then === "end") socket.end();
        if (then === "reset") socket.resetAndDestroy();
      });
    });
    t.after(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test("an upstream that is not there is a 502 that says so, and the next request works again", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const { port } = upstream.server.address() as AddressInfo;
  const gate = await startGate(t, upstream.baseUrl);
  await new Promise((resolve) => upstream.server.close(resolve));
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.match(await res.text(), /nothing listens there/);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.error_type, record.status],
    ["rejected", "upstream_unreachable", 502],
  );
  await new Promise<void>((resolve) => upstream.server.listen(port, "127.0.0.1", resolve));
  assert.equal((await post(gate, "/v1/messages", {})).status, 200);
});

test("a host name that does not resolve is told apart", async (t) => {
  const gate = await startGate(t, "http://no-such-host.invalid/v1");
  const res = await post(gate, "/v1/responses", {});
  assert.equal(res.status, 502);
  assert.match(await res.text(), /host name/);
});

for (const then of ["end", "reset"] as const) {
  test(`an upstream that dies before its head (${then}) is a 502, sent once, recorded as cut`, async (t) => {
    const gate = await startGate(t, await rawUpstream(t, "", then));
    const res = await post(gate, "/v1/messages", {});
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_broke"]);
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.usage], ["cut", "upstream", "absent"]);
  });

  test(`a stream that breaks off (${then}) is cut for the client too, and keeps what message_start said`, async (t) => {
    const event = MESSAGE_EVENTS[0];
    const bytes = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${event.length.toString(16)}\r\n${event}\r\n`;
    const gate = await startGate(t, await rawUpstream(t, bytes, then));
    const client = await rawClient(t, gate.port);
    client.write(request(gate.port));
    const received = await client.closed;
    assert.doesNotMatch(received, /\r\n0\r\n\r\n$/);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage, record.tokens?.input_total],
      ["cut", "upstream", "partial", 3],
    );
  });
}

test("a body without length that ends in a reset is cut for the client too", async (t) => {
  const upstream = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${MESSAGE_EVENTS[0]}`),
    );
  });
  const connected = once(upstream, "connection") as Promise<[Socket]>;
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  t.after(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const gate = await startGate(t, `http://127.0.0.1:${port}/v1`);
  const client = await rawClient(t, gate.port);
  client.write(request(gate.port));
  const [socket] = await connected;
  await client.until(/message_start/);
  socket.resetAndDestroy();
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by], ["cut", "upstream"]);
});

for (const status of [204, 307]) {
  test(`a whole answer of status ${status} without a body is not taken for a cut one`, async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => res.writeHead(status, { location: "/x" }).end());
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(request(gate.port));
    await client.until(/^HTTP\/1\.1 \d+/);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage],
      [status === 204 ? "completed" : "error", null, "absent"],
    );
  });
}

test("an early answer that has to be decoded leaves no half-used connection for the next request", async (t) => {
  // Small to send and long to decode: the rest of the upload comes while the meter is still at it.
  const start = Buffer.from(`${JSON.stringify(MESSAGE).slice(0, -1)},"pad":"`);
  const body = gzipSync(Buffer.concat([start, Buffer.alloc(60_000_000, "a"), Buffer.from(`"}`)]), {
    level: 1,
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const gate = await startGate(t, await rawUpstream(t, head + body.toString("latin1"), "stay"));
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"model":`,
  );
  await client.until(/^HTTP\/1\.1 200/);
  client.write("x".repeat(991));
  await gate.ledger.only();
  // The raw upstream answers only the first bytes of a connection: on a half-used one the next request would wait for ever.
  const next = await rawClient(t, gate.port);
  next.write(request(gate.port));
  await next.until(/^HTTP\/1\.1 200/);
});

test("a body shorter than its announced length is cut for the client too", async (t) => {
  const bytes = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"usage":`;
  const gate = await startGate(t, await rawUpstream(t, bytes, "end"));
  await assert.rejects(async () => (await post(gate, "/v1/messages", {})).text());
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.usage], ["cut", "upstream", "absent"]);
});

for (const [what, bytes] of [
  ["status 000", "HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n"],
  ["status 999", "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"],
  ["no HTTP at all", "220 mail.example ESMTP\r\n"],
  ["two content-lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
  [
    "a length beside chunked",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"],
  ["a broken header", "HTTP/1.1 200 OK\r\nx y: z\r\n\r\n"],
] as const) {
  test(`an upstream that answers with ${what} is a 502, and the gate lives on`, async (t) => {
    const gate = await startGate(t, await rawUpstream(t, bytes, "stay"));
    const res = await post(gate, "/v1/responses", {});
    assert.equal(res.status, 502);
    assert.match(res.headers.get("x-tollkeeper-refusal") ?? "", /^upstream_/);
    await res.text();
    assert.equal((await fetch(`${gate.url}/`, { method: "HEAD" })).status, 200);
  });
}

test("an upstream that says nothing within the limit is a 504", async (t) => {
  const limits = { ...defaultConfig.limits, firstByteMs: 50 };
  const gate = await startGate(t, await rawUpstream(t, "", "stay"), { config: { limits } });
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [504, "upstream_timeout"]);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by], ["cut", "proxy"]);
});

test("an upstream that falls silent in mid-stream is cut after the limit", async (t) => {
  const event = MESSAGE_EVENTS[0];
  const bytes = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${event.length.toString(16)}\r\n${event}\r\n`;
  const limits = { ...defaultConfig.limits, betweenBytesMs: 50 };
  const gate = await startGate(t, await rawUpstream(t, bytes, "stay"), { config: { limits } });
  const client = await rawClient(t, gate.port);
  client.write(request(gate.port));
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by], ["cut", "proxy"]);
});

test("an answer that comes before the upload's end reaches the client", async (t) => {
  const body = `{"type":"error","error":{"type":"authentication_error","message":"no"}}`;
  const bytes = `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const gate = await startGate(t, await rawUpstream(t, bytes, "stay"));
  const client = await rawClient(t, gate.port);
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"model":`,
  );
  assert.match(await client.until(/authentication_error/), /^HTTP\/1\.1 401 Unauthorized/);
  assert.equal((await gate.ledger.only()).status, 401);
});

test("connections to the upstream are kept and used again", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  let connections = 0;
  upstream.server.on("connection", () => (connections += 1));
  const gate = await startGate(t, upstream.baseUrl);
  for (let i = 0; i < 5; i += 1) await (await post(gate, "/v1/messages", {})).text();
  assert.equal(connections, 1);
});
