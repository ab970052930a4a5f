import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { post, startGate, TEST_KEY } from "../helpers/gate.ts";
import { rawClient, rawRequest } from "../helpers/raw-client.ts";
import {
  answerJson,
  MESSAGE,
  MESSAGE_EVENTS,
  startHeldUpstream,
  startUpstream,
} from "../helpers/upstream.ts";

test("the head and each event arrive before the next one is sent", async (t) => {
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

test("the record is written before the client can see the end", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  for (const event of MESSAGE_EVENTS) answer.write(event);
  await client.until(/message_stop/);
  assert.equal(gate.ledger.records.length, 0);
  answer.end();
  await client.until(/\r\n0\r\n\r\n/);
  assert.equal(gate.ledger.records.length, 1);
});

test("the last byte of an answer with a length waits for the record too", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, MESSAGE));
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  let recordsAtEnd = -1;
  client.socket.on("data", (text: string) => {
    if (text.includes("}}")) recordsAtEnd = gate.ledger.records.length;
  });
  client.write(rawRequest(gate.port));
  await client.until(/"output_tokens":2\}\}/);
  assert.equal(recordsAtEnd, 1);
});

test("bodies pass byte for byte in both directions, whatever they are", async (t) => {
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

test("status, reason, error body and retry headers of the upstream pass as they are", async (t) => {
  const body = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`;
  const upstream = await startUpstream(t, (_seen, res) =>
    res
      .writeHead(529, "Overloaded", { "retry-after": "7", "x-should-retry": "true", "request-id": "r1" })
      .end(body),
  );
  const gate = await startGate(t, upstream.baseUrl);
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual(
    [
      res.status,
      res.statusText,
      res.headers.get("retry-after"),
      res.headers.get("x-should-retry"),
      await res.text(),
    ],
    [529, "Overloaded", "7", "true", body],
  );
  assert.equal(res.headers.get("x-tollkeeper-refusal"), null);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.error_type, record.spend], ["error", "overloaded_error", "never"]);
});

test("a redirect is passed on, never followed", async (t) => {
  const elsewhere = await startUpstream(t, (_seen, res) => answerJson(res, {}));
  const upstream = await startUpstream(t, (_seen, res) =>
    res.writeHead(307, { location: elsewhere.baseUrl }).end(),
  );
  const gate = await startGate(t, upstream.baseUrl);
  const res = await fetch(`${gate.url}/v1/models`, { redirect: "manual" });
  assert.equal(res.status, 307);
  const record = await gate.ledger.only();
  assert.deepEqual([record.status, record.cut_by], [307, null]);
  assert.equal(elsewhere.seen.length, 0);
});

test("an upstream that echoes the key gets it blotted out of headers, reason and error body", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => {
    res.writeHead(401, `bad ${TEST_KEY}`, { "x-echo": TEST_KEY });
    res.write(`{"error":{"message":"wrong key ${TEST_KEY.slice(0, 9)}`);
    setImmediate(() => res.end(`${TEST_KEY.slice(9)}"}}`));
  });
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const received = await client.until(/\r\n0\r\n\r\n/);
  assert.ok(!received.includes(TEST_KEY), received);
  assert.equal(received.replaceAll(/[^*]/g, "").length, 3 * TEST_KEY.length);
});

test("an answer compressed although we asked for identity reaches the client as it is, and is metered", async (t) => {
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
});

test("broken compressed data makes the usage absent, and nothing else", async (t) => {
  const body = Buffer.from("this is no gzip at all");
  const upstream = await startUpstream(t, (_seen, res) =>
    res.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body),
  );
  const gate = await startGate(t, upstream.baseUrl);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  assert.match(await client.until(/\r\n0\r\n\r\n/), /this is no gzip at all/);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.usage, record.tokens, record.flags.includes("decode_failed")],
    ["completed", "absent", null, true],
  );
});

test("a client that leaves is given up after the grace, and the upstream is freed", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 20 } } });
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  answer.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  const freed = new Promise((resolve) => answer.once("close", resolve));
  client.socket.destroy();
  await freed;
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.cut_by, record.usage, record.tokens?.input_total, record.tokens?.output],
    ["cut", "client", "partial", 3, 1],
  );
});

test("an upstream that says its usage within the grace gives a final record although the client has left", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 60_000 } } });
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  answer.write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  const left = new Promise((resolve) => client.socket.once("close", resolve));
  client.socket.destroy();
  await left;
  for (const event of MESSAGE_EVENTS.slice(1)) answer.write(event);
  answer.end();
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.usage, record.tokens?.output], ["completed", "final", 2]);
});

test("a client that leaves during its upload frees the upstream at once", async (t) => {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, { config: { abort: { graceMs: 60_000 } } });
  const client = await rawClient(t, gate.port);
  const freed = new Promise((resolve) =>
    upstream.server.once("connection", (socket) => socket.once("close", resolve)),
  );
  const arrived = new Promise((resolve) => upstream.server.once("request", resolve));
  client.write(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"model":`,
  );
  await arrived;
  client.socket.destroy();
  await freed;
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by, record.status], ["cut", "client", null]);
});
