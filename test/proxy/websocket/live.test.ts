// Google's Live API through the gate: one record a turn, equal to the books of the service, whose messages are JSON in binary frames.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { refusedSocket } from "../../helpers/client/websocket.ts";
import { TEST_KEY } from "../../helpers/gate/gate.ts";
import { MemoryTokens } from "../../helpers/gate/memory.ts";
import {
  isSetUp,
  isTurnComplete,
  openLive,
  openLiveThroughGate,
  SAY,
  SETUP,
  SOUND,
  startLiveGate,
} from "../../helpers/gate/gate-with-live.ts";
import { LIVE_PATH, sendBinary, turnOf } from "../../helpers/upstream/live-upstream.ts";

/** What the ledger says of turns, as the books of the service have it. */
const booked = (records: readonly UsageRecord[]) =>
  records.map(({ tokens }) => ({ input: tokens?.input_total, output: tokens?.output }));

test("each turn leaves one record, equal to the books of the service", async (t) => {
  const { gate, upstream, client } = await openLiveThroughGate(t);
  for (let turn = 0; turn < 3; turn += 1) {
    client.send(SAY);
    await client.until(isTurnComplete);
  }
  client.socket.close();
  await client.closed;
  const records = await gate.ledger.first(3);
  assert.equal(gate.ledger.records.length, 3);
  assert.deepEqual(booked(records), upstream.turns);
  const [first] = records;
  assert.deepEqual(
    [
      first?.route,
      first?.method,
      first?.status,
      first?.model_requested,
      first?.outcome,
      first?.stop,
      first?.usage,
    ],
    ["/v1beta/models/{id}:bidiGenerateContent", "POST", 101, "gemini-3.8-live", "completed", "STOP", "final"],
  );
  assert.deepEqual([first?.spend, first?.stream, first?.key], ["count", true, "default"]);
  assert.ok(first?.ttft_ms !== null);
  assert.deepEqual(first?.raw_usage?.["responseTokensDetails"], [{ modality: "AUDIO", tokenCount: 20 }]);
});

test("messages pass as they came, also those in binary frames", async (t) => {
  const { client } = await openLiveThroughGate(t);
  client.send(SAY);
  await client.until(isTurnComplete);
  const expected = [{ setupComplete: {} }, ...turnOf({ input: 100, output: 20 })];
  assert.deepEqual(
    client.frames.map(({ data, isBinary }) => [data.toString(), isBinary]),
    expected.map((message) => [`${JSON.stringify(message, null, 2)}\n`, true]),
  );
});

test("a transcript that comes after the end of its turn opens none, and usage that comes alone has a record at once", async (t) => {
  const { gate, upstream, client } = await openLiveThroughGate(t);
  client.send(SAY);
  await client.until(isTurnComplete);
  const [socket] = upstream.sockets;
  assert.ok(socket);
  sendBinary(socket, { serverContent: { outputTranscription: { text: "good morning" } } });
  const usage = { promptTokenCount: 7, responseTokenCount: 3, totalTokenCount: 10 };
  sendBinary(socket, { usageMetadata: usage });
  const [, late] = await gate.ledger.first(2);
  assert.deepEqual([late?.tokens?.input_total, late?.tokens?.output, late?.usage], [7, 3, "final"]);
  client.send(SAY);
  await client.until(isTurnComplete);
  assert.deepEqual(booked((await gate.ledger.first(3)).slice(2)), upstream.turns.slice(1));
  assert.equal(gate.gate.openExchanges, 0);
});

test("the key in the URL is taken off, the real one is put on, and neither is in a log or a record", async (t) => {
  const own = "AIza-key-of-the-tool-4712";
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    client: { path: `${LIVE_PATH}?key=${own}&alt=json`, headers: { "x-goog-api-key": own } },
  });
  client.send(SAY);
  await client.until(isTurnComplete);
  const [handshake] = upstream.handshakes;
  assert.equal(handshake?.url, `${LIVE_PATH}?alt=json`);
  assert.equal(handshake?.headers["x-goog-api-key"], TEST_KEY);
  assert.equal(handshake?.headers.authorization, undefined);
  const written = JSON.stringify([await gate.ledger.first(1), gate.log.lines]);
  for (const key of [own, TEST_KEY]) assert.ok(!written.includes(key));
});

test("a token for a browser becomes the key, at the path of the key", async (t) => {
  const { upstream } = await openLiveThroughGate(t, {
    client: { path: `/${LIVE_PATH.replace("v1beta", "v1alpha")}Constrained?access_token=auth_tokens/secret` },
  });
  const [handshake] = upstream.handshakes;
  assert.equal(handshake?.url, LIVE_PATH.replace("v1beta", "v1alpha"));
  assert.equal(handshake?.headers["x-goog-api-key"], TEST_KEY);
});

test("Vertex gets a bearer token, and the model in a resource is that of the record", async (t) => {
  const path = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent";
  const { gate, upstream } = await startLiveGate(t, { upstream: { auth: "bearer" } });
  const client = await openLive(t, gate, { path });
  client.send({
    setup: { model: "projects/p/locations/us-central1/publishers/google/models/gemini-live-2.5-flash" },
  });
  await client.until(isSetUp);
  client.send(SAY);
  await client.until(isTurnComplete);
  const [handshake] = upstream.handshakes;
  assert.deepEqual([handshake?.url, handshake?.headers.authorization], [path, `Bearer ${TEST_KEY}`]);
  assert.equal((await gate.ledger.first(1))[0]?.model_requested, "gemini-live-2.5-flash");
});

test("thoughts are output, although the total leaves them out", async (t) => {
  const { gate, client } = await openLiveThroughGate(t, {
    onMessage: (socket, _message, upstream) =>
      upstream.speak(socket, { input: 1197, output: 37, thoughts: 28 }),
  });
  client.send(SAY);
  await client.until(isTurnComplete);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual(
    [record?.tokens?.input_total, record?.tokens?.output, record?.tokens?.reasoning, record?.flags],
    [1197, 65, 28, []],
  );
});

test("sound has no record, and the turn that the service begins by itself has one", async (t) => {
  const { gate, upstream, client } = await openLiveThroughGate(t, { onMessage() {} });
  for (let piece = 0; piece < 200; piece += 1) client.send(SOUND);
  await waitUntil("the sound has arrived", () => upstream.messages.length === 201 || null);
  const [socket] = upstream.sockets;
  assert.ok(socket);
  upstream.speak(socket);
  await client.until(isTurnComplete);
  client.send(SOUND);
  client.socket.close();
  await client.closed;
  await gate.ledger.first(1);
  assert.deepEqual(booked(gate.ledger.records), upstream.turns);
});

/** A call of a tool, its results, and usage that comes on its own. */
const CALL = { toolCall: { functionCalls: [{ id: "1", name: "read", args: {} }] } };
const RESULTS = { toolResponse: { functionResponses: [{ id: "1", name: "read", response: {} }] } };
const CALL_USAGE = { usageMetadata: { promptTokenCount: 24, responseTokenCount: 5, totalTokenCount: 29 } };
const isCall = ({ toolCall }: { toolCall?: object }) => toolCall !== undefined;

test("a turn with a tool call is one record, unless usage comes with the call", async (t) => {
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    onMessage(socket, { toolResponse }, books) {
      if (toolResponse !== undefined) books.speak(socket);
      else sendBinary(socket, books.turns.length === 0 ? CALL : { ...CALL, ...CALL_USAGE });
    },
  });
  for (let turn = 0; turn < 2; turn += 1) {
    client.send(SAY);
    await client.until(isCall);
    client.send(RESULTS);
    await client.until(isTurnComplete);
  }
  const records = await gate.ledger.first(3);
  assert.deepEqual(booked(records), [upstream.turns[0], { input: 24, output: 5 }, upstream.turns[1]]);
});

for (const [name, message] of Object.entries({ sound: SOUND, "the results of tools": RESULTS })) {
  test(`usage of a call that comes after ${name} is that of the turn up to the call`, async (t) => {
    const { gate, upstream, client } = await openLiveThroughGate(t, {
      onMessage(socket, { clientContent }) {
        sendBinary(socket, clientContent === undefined ? CALL_USAGE : CALL);
      },
    });
    client.send(SAY);
    await client.until(isCall);
    client.send(message);
    const [called] = await gate.ledger.first(1);
    assert.deepEqual([called?.tokens?.input_total, called?.tokens?.output, called?.usage], [24, 5, "final"]);
    const [socket] = upstream.sockets;
    assert.ok(socket);
    upstream.speak(socket);
    await client.until(isTurnComplete);
    assert.deepEqual(booked((await gate.ledger.first(2)).slice(1)), upstream.turns);
  });
}

const hasContent = ({ serverContent }: { serverContent?: { modelTurn?: object } }) =>
  serverContent?.modelTurn !== undefined;

test("an interrupted turn, one that the client leaves and one that the service cuts are recorded as such", async (t) => {
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    onMessage: (socket) => sendBinary(socket, { serverContent: { modelTurn: { parts: [{ text: "Hm" }] } } }),
    config: { abort: { graceMs: 0 } },
  });
  client.send(SAY);
  await client.until(hasContent);
  const [socket] = upstream.sockets;
  assert.ok(socket);
  sendBinary(socket, { serverContent: { interrupted: true } });
  sendBinary(socket, {
    serverContent: { turnComplete: true },
    usageMetadata: { promptTokenCount: 9, responseTokenCount: 3, totalTokenCount: 12 },
  });
  await client.until(isTurnComplete);
  client.send(SAY);
  await client.until(hasContent);
  client.socket.terminate();
  await gate.ledger.first(2);
  const other = await openLive(t, gate);
  other.send(SETUP);
  other.send(SAY);
  await other.until(hasContent);
  upstream.sockets[1]?.close(1011, "internal");
  assert.deepEqual(await other.closed, { code: 1011, reason: "internal" });
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ outcome, stop, cut_by, usage }) => [outcome, stop, cut_by, usage]),
    [
      ["incomplete", "INTERRUPTED", null, "final"],
      ["cut", null, "client", "absent"],
      ["cut", null, "upstream", "absent"],
    ],
  );
});

test("without the setting there is no WebSocket, and a plain request finds no route", async (t) => {
  const { gate } = await startLiveGate(t, { upstream: { websocket: false } });
  await assert.rejects(openLive(t, gate));
  for (const method of ["GET", "POST"]) {
    const response = await fetch(`${gate.url}${LIVE_PATH}`, { method });
    assert.equal(response.status, 404);
  }
});

test("a refused handshake gets an error in Google's form, wherever the path has its tool and its key", async (t) => {
  const { gate } = await startLiveGate(t, { upstream: { websocket: false } });
  for (const path of [LIVE_PATH, `${LIVE_PATH}?key=k`, `/t/voice${LIVE_PATH}?key=k`]) {
    const { status, body } = await refusedSocket(gate, { path });
    const { error } = JSON.parse(body) as { error: { code?: number; status?: string } };
    assert.deepEqual([status, error.code, typeof error.status], [426, 426, "string"], path);
  }
});

test("a local token in the URL proves the tool, and without one there is no WebSocket", async (t) => {
  const tokens = new MemoryTokens();
  const token = tokens.add("voice");
  const options = { tokens, config: { access: { mode: "token" as const, peerUid: [] } } };
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    ...options,
    client: { path: `${LIVE_PATH}?key=${token}` },
  });
  client.send(SAY);
  await client.until(isTurnComplete);
  assert.equal((await gate.ledger.first(1))[0]?.tool, "voice");
  assert.equal(upstream.handshakes[0]?.headers["x-goog-api-key"], TEST_KEY);
  for (const query of ["", "?key=other", `?key=${token}&key=${token}`])
    await assert.rejects(openLive(t, gate, { path: LIVE_PATH + query }));
});

test("where an upstream passes the keys of tools, that in the URL goes there in a header", async (t) => {
  const own = "AIzaSyOwnKeyOfTheTool-0123456789abcdefg";
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    upstream: { credential: "client" },
    client: { path: `${LIVE_PATH}?key=${own}` },
  });
  client.send(SAY);
  await client.until(isTurnComplete);
  const [handshake] = upstream.handshakes;
  assert.deepEqual([handshake?.url, handshake?.headers["x-goog-api-key"]], [LIVE_PATH, own]);
  assert.ok(!JSON.stringify([await gate.ledger.first(1), gate.log.lines]).includes(own));
});
