// D5, no buffering: the head is sent at once, and each chunk, in both directions, before the next one has arrived, with its bytes
// unchanged.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { constants, createGzip, gzipSync } from "node:zlib";
import { TEST_KEY, type TestGate } from "../helpers/gate/gate.ts";
import { rawClient, rawRequest, type RawClient, sendRaw } from "../helpers/client/raw-client.ts";
import { MESSAGE, MESSAGE_EVENTS, type ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";
import {
  startGateWithRawUpstream,
  startGateWithUpstream,
  startGateWithHeldUpstream,
} from "../helpers/gate/gate-with-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** Sends a request and returns the upstream's response to it, which has not begun. */
async function openExchange(
  gate: TestGate,
  upstream: ScriptedUpstream,
  client: RawClient,
): Promise<ServerResponse> {
  const requested = once(upstream.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
  client.write(rawRequest(gate.port));
  return (await requested)[1];
}

test("the head and each event of a stream reach the client before the next one is sent", LIMIT, async (t) => {
  const { held, gate } = await startGateWithHeldUpstream(t);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  response.flushHeaders();
  await client.until(/HTTP\/1\.1 200 OK[^]*\r\n\r\n/);
  for (const event of MESSAGE_EVENTS) {
    response.write(event);
    await client.until(new RegExp(event.slice(7, 20)));
  }
  response.end();
  const received = await client.until(/\r\n0\r\n\r\n/);
  assert.match(received, /content-type: text\/event-stream; charset=utf-8/i);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.usage, record.stream], ["completed", "final", true]);
  assert.ok(record.ttft_ms !== null && record.ttft_ms <= record.duration_ms);
});

test("each chunk of an event is passed on at once, down to single bytes", LIMIT, async (t) => {
  const { held, gate } = await startGateWithHeldUpstream(t);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  response.flushHeaders();
  const head = await client.until(/\r\n\r\n/);
  let expected = "";
  for (const byte of MESSAGE_EVENTS[0].slice(0, 60)) {
    response.write(byte);
    expected += `1\r\n${byte}\r\n`;
    assert.equal(await client.until(new RegExp(`^[^]{${head.length + expected.length}}$`)), head + expected);
  }
});

for (const [what, headers] of [
  ["a JSON response with a length", { "content-type": "application/json", "content-length": 180 }],
  ["a JSON response without a length", { "content-type": "application/json" }],
  ["an error", { "content-type": "text/plain" }],
] as const) {
  test(`each chunk of ${what} reaches the client before the next one is sent`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithUpstream(t, () => {});
    const client = await rawClient(t, gate.port);
    const response = await openExchange(gate, upstream, client);
    response.writeHead(what === "an error" ? 500 : 200, headers);
    for (const letter of ["a", "b", "c"]) {
      // The last bytes of an error are withheld, because they may be the beginning of the key.
      response.write(letter.repeat(60));
      await client.until(new RegExp(`${letter}{20}`));
    }
    response.end();
    assert.equal((await gate.ledger.only()).bytes_out, 180);
  });
}

test(
  "the head of an error is sent at once, even when all bytes that came with it are withheld",
  LIMIT,
  async (t) => {
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      socket.write(`HTTP/1.1 500 Odd\r\ntransfer-encoding: chunked\r\n\r\n8\r\n${TEST_KEY.slice(0, 8)}\r\n`);
    });
    const client = await sendRaw(t, gate.port);
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 500 Odd\r\n/);
  },
);

test("each chunk of a compressed stream is passed on at once and unchanged", LIMIT, async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, () => {});
  const client = await rawClient(t, gate.port);
  const response = await openExchange(gate, upstream, client);
  response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
  const gzip = createGzip();
  let sent = "";
  const chunks: Buffer[] = [];
  gzip.on("data", (bytes: Buffer) => chunks.push(bytes));
  for (const event of MESSAGE_EVENTS) {
    gzip.write(event);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    const bytes = Buffer.concat(chunks.splice(0));
    sent += `${bytes.length.toString(16)}\r\n${bytes.toString("latin1")}\r\n`;
    response.write(bytes);
    const received = await client.until(new RegExp(`\\r\\n\\r\\n[^]{${sent.length}}$`));
    assert.ok(received.endsWith(sent));
  }
  gzip.end();
  await once(gzip, "end");
  response.end(Buffer.concat(chunks));
  await client.until(/\r\n0\r\n\r\n$/);
  assert.equal((await gate.ledger.only()).tokens?.output, 2);
});

test(
  "a response that is compressed although identity was requested reaches the client unchanged and is metered",
  LIMIT,
  async (t) => {
    const body = gzipSync(JSON.stringify(MESSAGE));
    const { upstream, gate } = await startGateWithUpstream(t, (_seen, res) =>
      res.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body),
    );
    const client = await sendRaw(t, gate.port);
    const received = await client.until(/\r\n0\r\n\r\n/);
    assert.ok(received.includes(body.toString("latin1")));
    assert.match(received, /content-encoding: gzip/i);
    assert.equal(upstream.seen[0]?.headers["accept-encoding"], "identity");
    assert.equal((await gate.ledger.only()).tokens?.output, 2);
  },
);

test("each chunk of an upload reaches the upstream before the next one is sent", LIMIT, async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, () => {});
  const client = await rawClient(t, gate.port);
  const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  client.write("6\r\n{chunk\r\n");
  const [request] = await requested;
  for (let i = 0; i < 5; i += 1) {
    client.write(`6\r\nchunk${i}\r\n`);
    let received = "";
    while (!received.endsWith(`chunk${i}`)) received += String((await once(request, "data"))[0]);
  }
});

test("bodies of arbitrary bytes pass unchanged in both directions", LIMIT, async (t) => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
  const { upstream, gate } = await startGateWithUpstream(t, (_seen, res) =>
    res.writeHead(200, { "content-type": "x/y" }).end(bytes),
  );
  const res = await fetch(`${gate.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "zstd" },
    body: bytes,
  });
  assert.ok(Buffer.from(await res.arrayBuffer()).equals(bytes));
  assert.ok(upstream.seen[0]?.body.equals(bytes));
  assert.equal(upstream.seen[0]?.headers["content-encoding"], "zstd");
  const record = await gate.ledger.only();
  assert.deepEqual([record.model_requested, record.bytes_in, record.bytes_out], [null, 100_000, 100_000]);
});
