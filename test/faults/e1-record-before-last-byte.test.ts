// E1, record before last byte: the record is in the ledger, as one complete line, before the client receives its last byte. A line
// that a crash tore is set aside at the next start.
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import type { Ledger } from "../../src/ports.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post, startGate } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { startLedger, startLedgerGate, TODAY } from "../helpers/ledger/ledger.ts";
import { rawClient, rawRequest, sendRaw } from "../helpers/client/raw-client.ts";
import {
  sendJson,
  MESSAGE,
  MESSAGE_EVENTS,
  SSE,
  startHeldUpstream,
  respondWithMessage,
} from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const LAST_CHUNK = String.raw`\r\n0\r\n\r\n$`;
const JSON_TYPE = { "content-type": "application/json" };

/** Responses of an upstream, and how each ends for the client. */
const RESPONSES: [what: string, respond: (res: ServerResponse) => void, last: string][] = [
  ["a response with a length", (res) => sendJson(res, MESSAGE), `"output_tokens":2}}$`],
  ["a response in chunks", (res) => res.writeHead(200, JSON_TYPE).end(JSON.stringify(MESSAGE)), LAST_CHUNK],
  ["a stream", (res) => res.writeHead(200, SSE).end(MESSAGE_EVENTS.join("")), LAST_CHUNK],
  ["an error with a length", (res) => sendJson(res, { error: { type: "e" } }, 429), `"e"}}$`],
  ["an error in chunks", (res) => res.writeHead(529, JSON_TYPE).end(`{"error":{}}`), LAST_CHUNK],
  [
    "a compressed response, which takes the meter a while",
    (res) =>
      res
        .writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" })
        .end(gzipSync(JSON.stringify({ pad: "x".repeat(5_000_000), ...MESSAGE }))),
    LAST_CHUNK,
  ],
  ["a response without a body", (res) => res.writeHead(200, { "content-length": 0 }).end(), "\r\n\r\n$"],
  [
    "a refusal, because the response is not valid",
    (res) => void res.socket?.end("not HTTP\r\n"),
    "sent an invalid response.*}$",
  ],
  ["a response with status 204", (res) => res.writeHead(204).end(), "\r\n\r\n$"],
  ["a response with status 304", (res) => res.writeHead(304).end(), "\r\n\r\n$"],
  [
    "a compressed error",
    (res) =>
      res
        .writeHead(400, { ...JSON_TYPE, "content-encoding": "gzip" })
        .end(gzipSync(`{"error":{"type":"e"}}`)),
    LAST_CHUNK,
  ],
];

/** Resolves with the gate's end of the next client connection. What it has written is all that the client can have seen. */
function nextServerSocket(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const look = (message: unknown) => {
      const { socket } = message as { socket: Socket };
      if (socket.localPort !== port) return;
      unsubscribe("http.server.request.start", look);
      resolve(socket);
    };
    subscribe("http.server.request.start", look);
  });
}

/** The ledger with another `append`. */
function withAppend(ledger: Ledger, append: Ledger["append"]): Ledger {
  return {
    append,
    note: () => true,
    noteUnsent: () => true,
    health: () => ledger.health(),
    close: () => ledger.close(),
  };
}

/** The record of the only request is written at once; beside another one it waits for those that end in the same turn. */
const SURROUNDINGS = ["alone", "beside a request that is under way"];

for (const [[what, respond, last], where] of RESPONSES.flatMap((response) =>
  SURROUNDINGS.map((surroundings) => [response, surroundings] as const),
)) {
  test(`${where}, the record of ${what} is in the file before the end is written to the client`, async (t) => {
    const { ledger, clock, ids } = startLedger(t);
    let [writtenBefore, lines] = [-1, 0];
    const append = (records: readonly UsageRecord[]) => {
      writtenBefore = socket?.bytesWritten ?? -1;
      ledger.append(records);
      lines = ids().length;
    };
    const recordsTo = withAppend(ledger, append);
    const { upstream, held } = await startHeldUpstream(t);
    const gate = await startGate(t, upstream.baseUrl, { clock, recordsTo });
    if (where !== "alone") {
      await sendRaw(t, gate.port);
      await held;
    }
    upstream.respondWith((_seen, res) => respond(res));
    const client = await rawClient(t, gate.port);
    let socket: Socket | null = null;
    void nextServerSocket(gate.port).then((end) => (socket = end));
    client.write(rawRequest(gate.port));
    const received = await client.until(new RegExp(last));
    assert.equal(lines, 1);
    assert.ok(
      writtenBefore >= 0 && writtenBefore < received.length,
      `${writtenBefore} of ${received.length}`,
    );
  });
}

test("records of responses that end together are in the file, with few writes, before any of the ends is written", async (t) => {
  const { ledger, clock, ids } = startLedger(t);
  const CLIENTS = 8;
  const [held, sockets, writes] = [[] as ServerResponse[], [] as Socket[], [] as number[]];
  const { promise: allHeld, resolve } = withResolvers<void>();
  const bytesWritten = () => sockets.reduce((sum, { bytesWritten: bytes }) => sum + bytes, 0);
  const endings = new Set<number>();
  const append = (records: readonly UsageRecord[]) => {
    endings.add(bytesWritten());
    ledger.append(records);
    writes.push(records.length);
    assert.equal(
      ids().length,
      writes.reduce((sum, count) => sum + count, 0),
    );
  };
  const respond = (_seen: unknown, res: ServerResponse) => {
    if (held.push(res) === CLIENTS) resolve();
  };
  const { gate } = await startGateWithUpstream(t, respond, { clock, recordsTo: withAppend(ledger, append) });
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => rawClient(t, gate.port)));
  for (const client of clients) {
    void nextServerSocket(gate.port).then((end) => sockets.push(end));
    client.write(rawRequest(gate.port));
  }
  await allHeld;
  for (const res of held) sendJson(res, MESSAGE);
  await Promise.all(clients.map((client) => client.until(/"output_tokens":2}}$/)));
  assert.equal(ids().length, CLIENTS);
  assert.ok(writes.length < CLIENTS, `written as ${writes.join(" + ")}`);
  // Between two writes there are whole responses only.
  const [length = NaN] = sockets.map(({ bytesWritten: bytes }) => bytes);
  assert.deepEqual(
    [...endings].map((bytes) => bytes % length),
    [...endings].map(() => 0),
  );
});

test("the record of a connection that breaks before the response is in the file before the client sees that", async (t) => {
  const { ledger, clock, ids } = startLedger(t);
  let isOpen = false;
  const append = (records: readonly UsageRecord[]) => {
    ledger.append(records);
    isOpen = socket?.destroyed === false;
  };
  const recordsTo = withAppend(ledger, append);
  const { gate } = await startGateWithUpstream(t, (_seen, res) => res.destroy(), { clock, recordsTo });
  const client = await rawClient(t, gate.port);
  let socket: Socket | null = null;
  void nextServerSocket(gate.port).then((end) => (socket = end));
  client.write(rawRequest(gate.port));
  assert.equal(await client.closed, "");
  assert.deepEqual([ids().length, isOpen], [1, true]);
});

test("only the end of a stream waits for the record: the last event arrives before it is written", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  const { gate, directory } = await startLedgerGate(t, upstream.baseUrl);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  for (const event of MESSAGE_EVENTS) response.write(event);
  await client.until(/message_stop/);
  assert.deepEqual(readdirSync(directory), []);
  response.end();
  await client.until(/\r\n0\r\n\r\n/);
  assert.deepEqual(readdirSync(directory), [`${TODAY}.ndjson`]);
});

test("a daemon killed in mid-stream loses only the record of that stream, and the next one starts in its place", async (t) => {
  const { upstream, held } = await startHeldUpstream(t);
  // The stream leaves no note, however slow the machine is.
  const config = {
    ...writeKeyFile(t, upstream.baseUrl, "some-key").config,
    ledger: { noteAfterMs: 600_000 },
  };
  const killed = await startDaemon(t, { config });
  const client = await sendRaw(t, killed.port);
  (await held).write(MESSAGE_EVENTS[0]);
  await client.until(/message_start/);
  upstream.respondWith(respondWithMessage);
  await (await post(killed, "/v1/messages", {})).text();
  process.kill(killed.pid, "SIGKILL");
  assert.equal(await killed.ended, null);
  assert.doesNotMatch(await client.closed, /\r\n0\r\n\r\n$/);

  const socket = join(killed.home, "run", "tollkeeper", "control.sock");
  assert.ok(existsSync(socket), "the kill leaves its socket behind");
  const directory = join(killed.home, "state", "tollkeeper", "ledger");
  const day = join(directory, readdirSync(directory)[0] ?? "");
  const torn = '{"v":1,"id":"torn in the mid';
  appendFileSync(day, torn);

  const env = { XDG_STATE_HOME: join(killed.home, "state"), XDG_RUNTIME_DIR: join(killed.home, "run") };
  const next = await startDaemon(t, { config, env });
  assert.match(next.stderr(), /"msg":"the last line of the ledger was torn; it is in no sum"/);
  await (await post(next, "/v1/messages", {})).text();
  assert.deepEqual(
    (await next.ledger()).map(({ outcome, stream }) => [outcome, stream]),
    [
      ["completed", false],
      ["completed", false],
    ],
  );
  assert.ok(readFileSync(day, "utf8").includes(`\n${torn}\n{`), "nothing is removed");
  assert.equal(await next.stop(), 0);
});
