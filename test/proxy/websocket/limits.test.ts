// How long a WebSocket may stay open, and how much may wait on it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { isTerminal, openSocket, refusedSocket } from "../../helpers/client/websocket.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
import { startGate } from "../../helpers/gate/gate.ts";
import { ManualClock } from "../../helpers/gate/memory.ts";
import {
  begin,
  complete,
  startUpgradeUpstream,
  type SeenMessage,
} from "../../helpers/upstream/websocket-upstream.ts";

const LIMIT = { timeout: 300_000 };

const MINUTE_MS = 60_000;

test("a WebSocket that is an hour old closes with 1012, after the response that runs", LIMIT, async (t) => {
  const clock = new ManualClock();
  const held = withResolvers<() => void>();
  const { gate, client } = await openThroughGate(t, {
    clock,
    onMessage(socket, message) {
      const response = begin(socket, message);
      if (message.model === "last") held.resolve(() => complete(socket, message, response));
      else complete(socket, message, response);
    },
  });
  const idle = await openSocket(t, gate);
  for (let minutes = 0; minutes < 60; minutes += 20) {
    clock.advance(20 * MINUTE_MS);
    for (const each of [client, idle]) {
      each.send(CREATE);
      await each.until(isTerminal);
    }
  }
  const young = await openSocket(t, gate);
  client.send({ ...CREATE, model: "last" });
  await client.until(({ type }) => type === "response.in_progress");
  clock.advance(1);
  assert.deepEqual((await idle.closed).code, 1012);
  (await held.promise)();
  const closed = await client.closed;
  assert.deepEqual([closed.code, closed.reason], [1012, "the WebSocket is an hour old"]);
  assert.equal(client.events.at(-1)?.type, "response.completed");
  assert.equal((await gate.ledger.first(7)).length, 7);
  assert.equal(young.socket.readyState, young.socket.OPEN);
});

test(
  "a WebSocket without a response for half an hour closes with 1012, and pings do not keep it",
  LIMIT,
  async (t) => {
    const clock = new ManualClock();
    const { client } = await openThroughGate(t, { clock });
    client.send(CREATE);
    await client.until(isTerminal);
    clock.advance(30 * MINUTE_MS);
    const ponged = new Promise((resolve) => client.socket.once("pong", resolve));
    client.socket.ping();
    await ponged;
    clock.advance(1);
    const { code, reason } = await client.closed;
    assert.deepEqual([code, reason], [1012, "the WebSocket was idle for too long"]);
  },
);

test(
  "a response without an event for longer than the limits say ends, and its record says by whom",
  LIMIT,
  async (t) => {
    const clock = new ManualClock();
    const { gate, client } = await openThroughGate(t, {
      clock,
      onMessage: (socket, message) => void begin(socket, message),
    });
    client.send(CREATE);
    await client.until(({ type }) => type === "response.in_progress");
    clock.advance(60 * MINUTE_MS);
    assert.equal((await client.closed).code, 1006);
    const { outcome, cut_by, usage } = await gate.ledger.only();
    assert.deepEqual([outcome, cut_by, usage], ["cut", "proxy", "absent"]);
  },
);

test(
  "of more than 64 responses that have not ended, the next is refused, and goes once one has ended",
  LIMIT,
  async (t) => {
    const running: (() => void)[] = [];
    const { gate, upstream, client } = await openThroughGate(t, {
      onMessage(socket, message: SeenMessage) {
        const response = begin(socket, message);
        running.push(() => complete(socket, message, response));
      },
    });
    for (let at = 0; at < 65; at += 1) client.send({ ...CREATE, stream_id: `lane-${at}` });
    const refused = await client.until(isTerminal);
    assert.deepEqual(
      [refused.status, refused.error?.code, refused.stream_id],
      [503, "buffer_full", "lane-64"],
    );
    while (running.length < 64) await client.until(({ type }) => type === "response.in_progress");
    running[0]?.();
    await client.until(isTerminal);
    client.send({ ...CREATE, stream_id: "lane-64" });
    await client.until(({ type, stream_id: lane }) => type === "response.created" && lane === "lane-64");
    assert.equal(upstream.messages.length, 65);
    assert.equal(gate.gate.openExchanges, 64);
  },
);

test(
  "WebSockets get half of the connections that clients may have; the next is refused with 426 before the upstream is asked",
  LIMIT,
  async (t) => {
    // 64 for other things, and then two for each of six connections.
    const { gate, upstream, client } = await openThroughGate(t, { descriptorLimit: 64 + 12 });
    await openSocket(t, gate);
    await openSocket(t, gate);
    const { status, body } = await refusedSocket(gate);
    assert.equal(status, 426);
    assert.match(body, /3 WebSockets are open already/);
    assert.equal(upstream.handshakes.length, 3);
    client.socket.close(1000);
    await client.closed;
    const again = await openSocket(t, gate);
    again.send(CREATE);
    await again.until(isTerminal);
  },
);

test(
  "handshakes that wait for their upstream count as WebSockets: no burst exceeds the limit",
  LIMIT,
  async (t) => {
    const { baseUrl, handshakes } = await startUpgradeUpstream(t, () => {});
    const gate = await startGate(t, baseUrl, {
      descriptorLimit: 64 + 12,
      upstream: { websocket: "auto" },
    });
    const waiting = [1, 2, 3].map(() => refusedSocket(gate));
    await waitUntil("three handshakes", () => (handshakes.length === 3 ? true : null));
    assert.match((await refusedSocket(gate)).body, /3 WebSockets are open already/);
    assert.equal(handshakes.length, 3);
    // The upstream is silent, so they are refused, too.
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    assert.deepEqual(statuses, [426, 426, 426]);
  },
);

test(
  "an upstream that begins more than 64 responses that no message has asked for loses the WebSocket, and each began leaves a record",
  LIMIT,
  async (t) => {
    const { gate, client } = await openThroughGate(t, {
      onMessage(socket, message) {
        for (let at = 0; at < 2_000; at += 1) begin(socket, message);
      },
    });
    client.send(CREATE);
    assert.equal((await client.closed).code, 1006);
    const records = await gate.ledger.first(65);
    assert.deepEqual(
      new Set(records.map(({ outcome, cut_by }) => `${outcome} ${cut_by}`)),
      new Set(["cut proxy"]),
    );
    assert.equal(gate.gate.openExchanges, 0);
    assert.equal(gate.ledger.records.length, 65);
  },
);

test(
  "nor do responses that no message has asked for pass without end if each ends at once",
  LIMIT,
  async (t) => {
    const { gate, client } = await openThroughGate(t, {
      onMessage(socket, message) {
        for (let at = 0; at < 2_000; at += 1) complete(socket, message, begin(socket, message));
      },
    });
    client.send(CREATE);
    assert.equal((await client.closed).code, 1006);
    assert.equal((await gate.ledger.first(65)).length, 65);
    assert.equal(gate.ledger.records.length, 65);
  },
);

test("after each message, responses that none has asked for may begin again", LIMIT, async (t) => {
  const { gate, client } = await openThroughGate(t, {
    onMessage(socket, message) {
      for (let at = 0; at < 65; at += 1) complete(socket, message, begin(socket, message));
    },
  });
  for (let message = 1; message <= 3; message += 1) {
    client.send(CREATE);
    await gate.ledger.first(65 * message);
  }
  assert.equal(client.socket.readyState, client.socket.OPEN);
});
