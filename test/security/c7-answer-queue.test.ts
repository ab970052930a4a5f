// C7, response queue poisoning: a connection on which the upstream sends more than one response per request is closed, so that no
// client receives a response that is not its own.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { REST_MS } from "../../src/proxy/upstream/connection.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { openPool, readAll, sendGet, waitForRelease } from "../helpers/client/pool.ts";
import { beginRequest, sendRaw } from "../helpers/client/raw-client.ts";
import { post, type TestGate } from "../helpers/gate/gate.ts";
import {
  rawResponse,
  startRawUpstream,
  type RawConnection,
  type RawScript,
} from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { hastyClock, ManualClock } from "../helpers/gate/memory.ts";

/** If the connection is not closed, these tests wait forever. */
const LIMIT = { timeout: 300_000 };

const POISON = rawResponse(`{"poison":true}`);

/** Echoes the request's body, and sends `more` right after the first response. */
function echoAnd(more: string): RawScript {
  let isFirst = true;
  return ({ body }, { socket }) => {
    socket.write(rawResponse(`{"echo":${body}}`) + (isFirst ? more : ""), "latin1");
    isFirst = false;
  };
}

/** Fails unless a request gets its own response. */
async function assertServed(gate: TestGate, who: string): Promise<void> {
  const res = await post(gate, "/v1/messages", { who });
  assert.equal(await res.text(), `{"echo":{"who":"${who}"}}`);
}

const SURPLUS: Record<string, string> = {
  "a second response": POISON,
  "the head of a second response": POISON.slice(0, POISON.indexOf("\r\n\r\n")),
  "the beginning of a second response": "HTTP/1.1 2",
  "an incomplete interim response": "HTTP/1.1 103 Early Hints\r\nx: y\r\n",
  "bytes that are not HTTP": "poison",
  "a NUL": "\0",
  "a 408 response": rawResponse("{}", "connection: close\r\n", "408 Request Timeout"),
  "many responses": POISON.repeat(100),
};

for (const [what, more] of Object.entries(SURPLUS)) {
  test(`${what} right after a response closes the connection and reaches no client`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echoAnd(more), { clock: hastyClock() });
    await assertServed(gate, "A");
    await assertServed(gate, "B");
    await assertServed(gate, "C");
    await upstream.connections[0]?.closed;
    assert.deepEqual(
      upstream.connections.map(({ requests }) => requests.length),
      [1, 2],
    );
  });

  test(`${what} on an idle connection closes the connection and reaches no client`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echoAnd(""), { clock: hastyClock() });
    await assertServed(gate, "A");
    const [idle] = upstream.connections;
    assert.ok(idle);
    idle.socket.write(more, "latin1");
    await idle.closed;
    await assertServed(gate, "B");
    await assertServed(gate, "C");
    assert.deepEqual(
      upstream.connections.map(({ requests }) => requests.length),
      [1, 2],
    );
  });
}

test(
  "a response that the upstream sends a moment after another one reaches no client: its connection rests meanwhile",
  LIMIT,
  async (t) => {
    const clock = new ManualClock();
    const { upstream, gate } = await startGateWithRawUpstream(t, echoAnd(""), { clock });
    await assertServed(gate, "A");
    const [first] = upstream.connections;
    assert.ok(first);
    clock.advance(REST_MS - 1);
    upstream.respondWith(({ body }, { socket }) => {
      first.socket.write(POISON, "latin1");
      void first.closed.then(() => socket.write(rawResponse(`{"echo":${body}}`), "latin1"));
    });
    await assertServed(gate, "B");
    upstream.respondWith(echoAnd(""));
    clock.advance(REST_MS);
    await assertServed(gate, "C");
    assert.deepEqual(
      upstream.connections.map(({ requests }) => requests.length),
      [1, 2],
    );
  },
);

for (const [what, reach] of [
  ["a response", (socket: Socket) => void socket.write(POISON, "latin1")],
  ["the end of the connection", (socket: Socket) => void socket.end()],
  ["a reset", (socket: Socket) => void socket.resetAndDestroy()],
] as const) {
  test(
    `${what} that arrives in the turn in which the next request takes the connection is seen before that is sent, and it goes out on another`,
    LIMIT,
    async (t) => {
      const upstream = await startRawUpstream(t, echoAnd(""));
      const { pool, clock } = openPool(t, upstream.origin);
      const used = await waitForRelease(sendGet(pool));
      clock.advance(REST_MS);
      const [first] = upstream.connections;
      assert.ok(first);
      // In this phase, the event loop reads from the sockets before it goes on with what is asked for now.
      await setImmediate();
      reach(first.socket);
      const next = sendGet(pool);
      assert.equal(next.socket, used);
      assert.equal(await readAll(await next.response), `{"echo":}`);
      assert.deepEqual(
        upstream.connections.map(({ requests }) => requests.length),
        [1, 1],
      );
    },
  );
}

const LONG = `{"who":"A","tail":"poison"}`;

for (const [what, head, first, tail] of [
  ["with an announced length", "content-length: 9\r\n\r\n", LONG.slice(0, 9), LONG.slice(9)],
  [
    "in chunks",
    "transfer-encoding: chunked\r\n\r\n",
    '9\r\n{"who":1}\r\n0\r\n\r\n',
    "6\r\npoison\r\n0\r\n\r\n",
  ],
  ["with status 204", "\r\n", "", "poison"],
] as const) {
  test(`the surplus bytes of a response ${what} reach no client`, LIMIT, async (t) => {
    const status = first === "" ? "204 No Content" : "200 OK";
    const { upstream, gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      socket.write(`HTTP/1.1 ${status}\r\n${head}${first}`);
    });
    const text = await (await post(gate, "/v1/messages", {})).text();
    assert.doesNotMatch(text, /poison/);
    const [idle] = upstream.connections;
    assert.ok(idle);
    idle.socket.write(tail);
    await idle.closed;
    upstream.respondWith(echoAnd(""));
    await assertServed(gate, "B");
  });
}

test(
  "a response on a used connection, before the next request is sent on it, reaches no client, and that request goes out on another",
  LIMIT,
  async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echoAnd(""), { clock: hastyClock() });
    await assertServed(gate, "A");
    const [used] = upstream.connections;
    assert.ok(used);
    // The request has its connection, and waits for the first byte of the body.
    const client = await sendRaw(t, gate.port, beginRequest(gate.port, "Content-Length: 11"));
    await waitUntil("the exchange", () => (gate.gate.openExchanges === 1 ? true : null));
    used.socket.write(POISON, "latin1");
    await used.closed;
    client.write(`{"who":"B"}`);
    assert.match(await client.until(/\r\n\r\n\{.*\}/s), /^HTTP\/1\.1 200 [^]*\{"echo":\{"who":"B"\}\}$/);
    await assertServed(gate, "C");
    assert.deepEqual(
      upstream.connections.map(({ requests }) => requests.length),
      [1, 2],
    );
  },
);

test("a client gets its own response while another connection is poisoned", LIMIT, async (t) => {
  const waiting: RawConnection[] = [];
  const { upstream, gate } = await startGateWithRawUpstream(
    t,
    (request, connection) => {
      waiting.push(connection);
      if (waiting.length < 2) return;
      const [first, second] = waiting;
      first?.socket.write(rawResponse(`{"echo":${first.requests[0]?.body ?? ""}}`) + POISON);
      second?.socket.write(rawResponse(`{"echo":${request.body}}`));
    },
    { clock: hastyClock() },
  );
  await Promise.all([assertServed(gate, "A"), assertServed(gate, "B")]);
  await upstream.connections[0]?.closed;
  upstream.respondWith(echoAnd(""));
  await assertServed(gate, "C");
  assert.equal(upstream.connections.length, 2);
});

test("of many simultaneous requests no two share an upstream connection", LIMIT, async (t) => {
  const waiting: [body: string, connection: RawConnection][] = [];
  const { gate } = await startGateWithRawUpstream(t, ({ body }, connection) => {
    waiting.push([body, connection]);
    if (waiting.length < 20) return;
    for (const [asked, { socket }] of waiting) socket.write(rawResponse(`{"echo":${asked}}`));
  });
  await Promise.all(Array.from({ length: 20 }, (_, i) => assertServed(gate, `client ${i}`)));
  assert.equal(new Set(waiting.map(([, connection]) => connection)).size, 20);
});
