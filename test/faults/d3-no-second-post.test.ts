// D3, no second POST: a POST that the upstream may have seen is never sent again; the client is told, and decides.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { post, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { rawAnswer, startRawUpstream, type RawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE } from "../helpers/upstream/scripted-upstream.ts";

/** A wait for what does not come is a failure. */
const LIMIT = { timeout: 10_000 };

const ENDINGS: [name: string, end: (socket: Socket) => void][] = [
  ["end", (socket) => socket.end()],
  ["reset", (socket) => socket.resetAndDestroy()],
];

/** Requests of which the upstream saw at least the first word. */
function postsSeen({ connections }: RawUpstream): number {
  return connections.map(({ received }) => received.split("POST /v1").length - 1).reduce((a, b) => a + b, 0);
}

async function assertBroke(res: Response): Promise<void> {
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_broke"]);
  const { type, error } = (await res.json()) as { type: string; error: { message: string } };
  assert.equal(type, "error");
  assert.match(error.message, /broke the connection before it answered .*it may have seen the request/);
}

async function assertOneCut(gate: TestGate): Promise<void> {
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.cut_by, record.status, record.usage, record.tokens],
    ["cut", "upstream", 502, "absent", null],
  );
}

for (const [ending, end] of ENDINGS) {
  test(`an upstream that accepts and goes away (${ending}) is connected to once`, LIMIT, async (t) => {
    const upstream = await startTcpUpstream(t, (socket) => end(socket.resume()));
    let connections = 0;
    upstream.server.on("connection", () => (connections += 1));
    const gate = await startGate(t, upstream.baseUrl);
    const res = await post(gate, "/v1/messages", {});
    // A reset may be there before the connection is: then it is one that never came to be.
    assert.match(`${res.status} ${await res.text()}`, /^502 .*the upstream (?:broke|cannot be reached)/);
    assert.deepEqual([connections, gate.ledger.records.length], [1, 1]);
  });

  for (const [moment, at, said] of [
    ["after the request's head", "head", ""],
    ["after the whole request", "end", ""],
    ["after early hints", "end", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"],
    ["within the answer's head", "end", "HTTP/1.1 200 OK\r\ncontent-"],
  ] as const) {
    test(`an upstream that goes away ${moment} (${ending}) sees the POST once`, LIMIT, async (t) => {
      const upstream = await startRawUpstream(
        t,
        (_request, { socket }) => socket.write(said, () => end(socket)),
        { at },
      );
      const gate = await startGate(t, upstream.baseUrl);
      await assertBroke(await post(gate, "/v1/messages", { input: "x".repeat(300_000) }));
      await assertOneCut(gate);
      assert.deepEqual([postsSeen(upstream), upstream.connections.length], [1, 1]);
    });
  }

  test(
    `a POST on a connection used before, which then goes away (${ending}), is seen once`,
    LIMIT,
    async (t) => {
      const answer = rawAnswer(JSON.stringify(MESSAGE));
      const upstream = await startRawUpstream(t, (_request, { socket }) => socket.write(answer));
      const gate = await startGate(t, upstream.baseUrl);
      assert.deepEqual(await (await post(gate, "/v1/messages", {})).json(), MESSAGE);
      upstream.answer((_request, { socket }) => end(socket));
      await assertBroke(await post(gate, "/v1/messages", {}));
      assert.deepEqual([postsSeen(upstream), upstream.connections.length], [2, 1]);
      upstream.answer((_request, { socket }) => socket.write(answer));
      assert.equal((await post(gate, "/v1/messages", {})).status, 200);
      assert.deepEqual(
        gate.ledger.records.map(({ outcome }) => outcome),
        ["completed", "cut", "completed"],
      );
    },
  );
}

test("a POST into a connection which the upstream is just closing is seen once at most", LIMIT, async (t) => {
  const answer = rawAnswer(JSON.stringify(MESSAGE));
  const upstream = await startRawUpstream(t, (_request, { socket }) => socket.write(answer));
  const gate = await startGate(t, upstream.baseUrl);
  const statuses: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const sent = post(gate, "/v1/messages", {});
    // The request is on its way to the gate while the connection goes.
    upstream.connections.at(-1)?.socket.destroy();
    const res = await sent;
    await res.text();
    statuses.push(res.status);
  }
  assert.ok(statuses.every((status) => status === 200 || status === 502));
  assert.ok(postsSeen(upstream) <= statuses.length);
  assert.equal(upstream.requests.length, statuses.filter((status) => status === 200).length);
  assert.equal(gate.ledger.records.length, statuses.length);
});

for (const status of [408, 429, 500, 503, 529]) {
  test(`a ${status} is the client's to try again`, LIMIT, async (t) => {
    const answer = rawAnswer("{}", "retry-after: 0\r\nconnection: close\r\n", `${status} Later`);
    const upstream = await startRawUpstream(t, (_request, { socket }) => socket.end(answer));
    const gate = await startGate(t, upstream.baseUrl);
    const res = await post(gate, "/v1/responses", {});
    assert.deepEqual([res.status, res.headers.get("retry-after"), await res.text()], [status, "0", "{}"]);
    assert.deepEqual([postsSeen(upstream), gate.ledger.records.length], [1, 1]);
  });
}

test("an upstream that was never reached is told apart: nobody saw the request", LIMIT, async (t) => {
  const upstream = await startTcpUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl);
  upstream.server.close();
  await once(upstream.server, "close");
  const res = await post(gate, "/v1/messages", {});
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
  assert.doesNotMatch(await res.text(), /seen/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.cut_by], ["rejected", null]);
});
