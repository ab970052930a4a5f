// D5, no buffering: nothing is held back: the head goes out at once, and each piece, in both directions, before the next one has come, its bytes unchanged.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { constants, createGzip, gzipSync } from "node:zlib";
import { startGate, type TestGate } from "../helpers/gate/gate.ts";
import { rawClient, rawRequest, type RawClient } from "../helpers/client/raw-client.ts";
import { startRawUpstream } from "../helpers/upstream/raw-upstream.ts";
import {
  MESSAGE,
  MESSAGE_EVENTS,
  startHeldUpstream,
  startUpstream,
  type ScriptedUpstream,
} from "../helpers/upstream/scripted-upstream.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };

/** A client whose request the upstream has, not yet answered. */
async function openExchange(
  gate: TestGate,
  upstream: ScriptedUpstream,
  client: RawClient,
): Promise<ServerResponse> {
  const requested = once(upstream.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
  client.write(rawRequest(gate.port));
  return (await requested)[1];
}

test("the head and each event arrive before the next one is sent", LIMIT, async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  answer.flushHeaders();
  await client.until(/HTTP\/1\.1 200 OK[^]*\r\n\r\n/);
  for (const event of MESSAGE_EVENTS) {
    answer.write(event);
    await client.until(new RegExp(event.slice(7, 20)));
  }
  answer.end();
  const received = await client.until(/\r\n0\r\n\r\n/);
  assert.match(received, /content-type: text\/event-stream; charset=utf-8/i);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.usage, record.stream], ["completed", "final", true]);
  assert.ok(record.ttft_ms !== null && record.ttft_ms <= record.duration_ms);
});

test("an event in pieces is passed on in pieces, down to single bytes", LIMIT, async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  answer.flushHeaders();
  const head = await client.until(/\r\n\r\n/);
  let expected = "";
  for (const byte of MESSAGE_EVENTS[0].slice(0, 60)) {
    answer.write(byte);
    expected += `1\r\n${byte}\r\n`;
    assert.equal(await client.until(new RegExp(`^[^]{${head.length + expected.length}}$`)), head + expected);
  }
});

for (const [what, headers] of [
  ["a JSON answer with a length", { "content-type": "application/json", "content-length": 180 }],
  ["a JSON answer without one", { "content-type": "application/json" }],
  ["an error", { "content-type": "text/plain" }],
] as const) {
  test(`the pieces of ${what} arrive one by one, too`, LIMIT, async (t) => {
    const upstream = await startUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    const answer = await openExchange(gate, upstream, client);
    answer.writeHead(what === "an error" ? 500 : 200, headers);
    for (const letter of ["a", "b", "c"]) {
      // Of an error as many bytes are held back as could be the beginning of the key.
      answer.write(letter.repeat(60));
      await client.until(new RegExp(`${letter}{20}`));
    }
    answer.end();
    assert.equal((await gate.ledger.only()).bytes_out, 180);
  });
}

test(
  "the head of an error goes out at once, also when all that came with it is held back",
  LIMIT,
  async (t) => {
    const upstream = await startRawUpstream(t, (_request, { socket }) => {
      socket.write("HTTP/1.1 500 Odd\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n");
    });
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(rawRequest(gate.port));
    assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 500 Odd\r\n/);
  },
);

test("a compressed stream passes piece by piece, as it is", LIMIT, async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  const answer = await openExchange(gate, upstream, client);
  answer.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
  const gzip = createGzip();
  let sent = "";
  const pieces: Buffer[] = [];
  gzip.on("data", (bytes: Buffer) => pieces.push(bytes));
  for (const event of MESSAGE_EVENTS) {
    gzip.write(event);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    const bytes = Buffer.concat(pieces.splice(0));
    sent += `${bytes.length.toString(16)}\r\n${bytes.toString("latin1")}\r\n`;
    answer.write(bytes);
    const received = await client.until(new RegExp(`\\r\\n\\r\\n[^]{${sent.length}}$`));
    assert.ok(received.endsWith(sent));
  }
  gzip.end();
  await once(gzip, "end");
  answer.end(Buffer.concat(pieces));
  await client.until(/\r\n0\r\n\r\n$/);
  assert.equal((await gate.ledger.only()).tokens?.output, 2);
});

test(
  "an answer compressed although we asked for identity reaches the client as it is, and is metered",
  LIMIT,
  async (t) => {
    const body = gzipSync(JSON.stringify(MESSAGE));
    const upstream = await startUpstream(t, (_seen, res) =>
      res.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body),
    );
    const gate = await startGate(t, upstream.baseUrl);
    const client = await rawClient(t, gate.port);
    client.write(rawRequest(gate.port));
    const received = await client.until(/\r\n0\r\n\r\n/);
    assert.ok(received.includes(body.toString("latin1")));
    assert.match(received, /content-encoding: gzip/i);
    assert.equal(upstream.seen[0]?.headers["accept-encoding"], "identity");
    assert.equal((await gate.ledger.only()).tokens?.output, 2);
  },
);

test("each piece of an upload arrives before the next one is sent", LIMIT, async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  const requested = once(upstream.server, "request") as Promise<[IncomingMessage]>;
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  client.write("6\r\n{piece\r\n");
  const [request] = await requested;
  for (let i = 0; i < 5; i += 1) {
    client.write(`6\r\npiece${i}\r\n`);
    let piece = "";
    while (!piece.endsWith(`piece${i}`)) piece += String((await once(request, "data"))[0]);
  }
});

test("bodies pass byte for byte in both directions, whatever they are", LIMIT, async (t) => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
  const upstream = await startUpstream(t, (_seen, res) =>
    res.writeHead(200, { "content-type": "x/y" }).end(bytes),
  );
  const gate = await startGate(t, upstream.baseUrl);
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
