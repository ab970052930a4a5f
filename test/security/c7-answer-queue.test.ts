// C7, response queue poisoning: a connection on which the upstream says more than it was asked is given up, so that no client ever gets what was not an answer to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { post, type TestGate } from "../helpers/gate/gate.ts";
import { rawResponse, type RawConnection, type RawScript } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** A connection that is kept makes these tests wait for ever. */
const LIMIT = { timeout: 10_000 };

const POISON = rawResponse(`{"poison":true}`);

/** Answers with the request's body, and says `more` right behind the first answer. */
function echoAnd(more: string): RawScript {
  let isFirst = true;
  return ({ body }, { socket }) => {
    socket.write(rawResponse(`{"echo":${body}}`) + (isFirst ? more : ""), "latin1");
    isFirst = false;
  };
}

/** An honest client's request gets its own answer. */
async function assertServed(gate: TestGate, who: string): Promise<void> {
  const res = await post(gate, "/v1/messages", { who });
  assert.equal(await res.text(), `{"echo":{"who":"${who}"}}`);
}

const SURPLUS: Record<string, string> = {
  "a second answer": POISON,
  "the head of a second answer": POISON.slice(0, POISON.indexOf("\r\n\r\n")),
  "the beginning of a second answer": "HTTP/1.1 2",
  "an interim answer that is not finished": "HTTP/1.1 103 Early Hints\r\nx: y\r\n",
  "no HTTP": "poison",
  "a NUL": "\0",
  "a time-out's answer": rawResponse("{}", "connection: close\r\n", "408 Request Timeout"),
  "many answers": POISON.repeat(100),
};

/**
 * Read together with the answer before it, these leave no trace: Node's parser is in the middle of a message when it is
 * let go, and says so to nobody. They are thrown away with it.
 */
const UNFINISHED = new Set([
  "the head of a second answer",
  "the beginning of a second answer",
  "an interim answer that is not finished",
]);

for (const [what, more] of Object.entries(SURPLUS)) {
  const cost = UNFINISHED.has(what) ? "" : "costs the connection, and ";
  test(`${what} behind an answer ${cost}reaches nobody`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echoAnd(more));
    await assertServed(gate, "A");
    await assertServed(gate, "B");
    await assertServed(gate, "C");
    if (UNFINISHED.has(what)) return;
    await upstream.connections[0]?.closed;
    assert.deepEqual(
      upstream.connections.map(({ requests }) => requests.length),
      [1, 2],
    );
  });

  test(`${what} on an idle connection costs that connection, and reaches nobody`, LIMIT, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echoAnd(""));
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

const LONG = `{"who":"A","tail":"poison"}`;

for (const [what, head, first, tail] of [
  ["of an announced length", "content-length: 9\r\n\r\n", LONG.slice(0, 9), LONG.slice(9)],
  [
    "in chunks",
    "transfer-encoding: chunked\r\n\r\n",
    '9\r\n{"who":1}\r\n0\r\n\r\n',
    "6\r\npoison\r\n0\r\n\r\n",
  ],
  ["of status 204", "\r\n", "", "poison"],
] as const) {
  test(`the tail of an answer ${what} that is longer than it said is nobody's`, LIMIT, async (t) => {
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

test("a client beside whose connection another is poisoned gets its own answer", LIMIT, async (t) => {
  const waiting: RawConnection[] = [];
  const { upstream, gate } = await startGateWithRawUpstream(t, (request, connection) => {
    waiting.push(connection);
    if (waiting.length < 2) return;
    const [first, second] = waiting;
    first?.socket.write(rawResponse(`{"echo":${first.requests[0]?.body ?? ""}}`) + POISON);
    second?.socket.write(rawResponse(`{"echo":${request.body}}`));
  });
  await Promise.all([assertServed(gate, "A"), assertServed(gate, "B")]);
  await upstream.connections[0]?.closed;
  upstream.respondWith(echoAnd(""));
  await assertServed(gate, "C");
  assert.equal(upstream.connections.length, 2);
});

test("of many requests at once, no two are under way on one connection", LIMIT, async (t) => {
  const waiting: [body: string, connection: RawConnection][] = [];
  const { gate } = await startGateWithRawUpstream(t, ({ body }, connection) => {
    waiting.push([body, connection]);
    if (waiting.length < 20) return;
    for (const [asked, { socket }] of waiting) socket.write(rawResponse(`{"echo":${asked}}`));
  });
  await Promise.all(Array.from({ length: 20 }, (_, i) => assertServed(gate, `client ${i}`)));
  assert.equal(new Set(waiting.map(([, connection]) => connection)).size, 20);
});
