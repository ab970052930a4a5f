// D3, no second POST: a POST that the upstream may have seen is never sent again. The client sees the connection break, as it would
// without us, and decides.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { hasCode } from "../../src/core/failure.ts";
import { hastyClock } from "../helpers/gate/memory.ts";
import { post, startGate, type TestGate } from "../helpers/gate/gate.ts";
import { rawResponse, type RawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE } from "../helpers/upstream/scripted-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const LIMIT = { timeout: 300_000 };

const ENDINGS: [name: string, end: (socket: Socket) => void][] = [
  ["end", (socket) => socket.end()],
  ["reset", (socket) => socket.resetAndDestroy()],
];

/**
 * How a connection begins that asks a server without a response so far whether it speaks TLS (RFC 8446 section 5.1): nothing of the
 * request is on it.
 */
const HANDSHAKE = "\u0016";

/** The number of requests of which the upstream saw at least the method. */
function countPosts({ connections }: RawUpstream): number {
  return connections.map(({ received }) => received.split("POST /v1").length - 1).reduce((a, b) => a + b, 0);
}

/** Fails unless the client's connection is reset before any response. */
async function assertReset(response: Promise<Response>): Promise<void> {
  await assert.rejects(response, ({ cause }: Error) => hasCode(cause, "ECONNRESET"));
}

async function assertOneCutRecord(gate: TestGate): Promise<void> {
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.cut_by, record.error_type, record.status, record.usage, record.tokens],
    ["cut", "upstream", "upstream_broke", null, "absent", null],
  );
}

for (const [ending, end] of ENDINGS) {
  test(
    `an upstream that accepts the connection and closes it (${ending}) is connected to once`,
    LIMIT,
    async (t) => {
      const upstream = await startTcpUpstream(t, (socket) => end(socket.resume()));
      const begun: string[] = [];
      upstream.server.on("connection", (socket) => {
        socket.once("data", (bytes: Buffer) => begun.push(bytes.toString("latin1", 0, 1)));
      });
      const gate = await startGate(t, upstream.baseUrl);
      // The reset may arrive before the connection is established; then the upstream counts as unreachable.
      const result = await post(gate, "/v1/messages", {}).then(
        (res) => res.headers.get("x-tollkeeper-refusal"),
        () => "reset",
      );
      const record = await gate.ledger.only();
      const isConnected = record.error_type === "upstream_broke";
      assert.equal(result, isConnected ? "reset" : "upstream_unreachable");
      assert.ok(begun.filter((first) => first !== HANDSHAKE).length <= 1, begun.join());
    },
  );

  for (const [moment, at, bytes] of [
    ["after the request head", "head", ""],
    ["after the complete request", "end", ""],
    ["after early hints", "end", "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"],
    ["within the response head", "end", "HTTP/1.1 200 OK\r\ncontent-"],
  ] as const) {
    test(
      `an upstream that closes the connection ${moment} (${ending}) sees the POST once`,
      LIMIT,
      async (t) => {
        const { upstream, gate } = await startGateWithRawUpstream(
          t,
          (_request, { socket }) => socket.write(bytes, () => end(socket)),
          { at },
        );
        await assertReset(post(gate, "/v1/messages", { input: "x".repeat(300_000) }));
        await assertOneCutRecord(gate);
        const asked = upstream.connections.filter(({ received }) => !received.startsWith(HANDSHAKE));
        assert.deepEqual([countPosts(upstream), asked.length], [1, 1]);
      },
    );
  }

  test(
    `a POST on a reused connection that the upstream then closes (${ending}) is seen once`,
    LIMIT,
    async (t) => {
      const response = rawResponse(JSON.stringify(MESSAGE));
      const { upstream, gate } = await startGateWithRawUpstream(
        t,
        (_request, { socket }) => socket.write(response),
        { clock: hastyClock() },
      );
      assert.deepEqual(await (await post(gate, "/v1/messages", {})).json(), MESSAGE);
      upstream.respondWith((_request, { socket }) => end(socket));
      await assertReset(post(gate, "/v1/messages", {}));
      assert.deepEqual([countPosts(upstream), upstream.connections.length], [2, 1]);
      upstream.respondWith((_request, { socket }) => socket.write(response));
      assert.equal((await post(gate, "/v1/messages", {})).status, 200);
      assert.deepEqual(
        gate.ledger.records.map(({ outcome }) => outcome),
        ["completed", "cut", "completed"],
      );
    },
  );
}

test("a POST on a connection that the upstream is closing is seen at most once", LIMIT, async (t) => {
  const response = rawResponse(JSON.stringify(MESSAGE));
  const { upstream, gate } = await startGateWithRawUpstream(
    t,
    (_request, { socket }) => socket.write(response),
    { clock: hastyClock() },
  );
  const results: (number | "reset")[] = [];
  for (let round = 0; round < 20; round += 1) {
    const sent = post(gate, "/v1/messages", {});
    // The request is on its way to the gate while the connection closes.
    upstream.connections.at(-1)?.socket.destroy();
    results.push(
      await sent.then(
        ({ status }) => status,
        () => "reset" as const,
      ),
    );
  }
  assert.ok(results.every((result) => result === 200 || result === "reset"));
  assert.ok(countPosts(upstream) <= results.length);
  assert.equal(upstream.requests.length, results.filter((result) => result === 200).length);
  assert.equal(gate.ledger.records.length, results.length);
});

for (const status of [408, 429, 500, 503, 529]) {
  test(`a response with status ${status} is passed on and not retried`, LIMIT, async (t) => {
    const response = rawResponse("{}", "retry-after: 0\r\nconnection: close\r\n", `${status} Later`);
    const { upstream, gate } = await startGateWithRawUpstream(t, (_request, { socket }) =>
      socket.end(response),
    );
    const res = await post(gate, "/v1/responses", {});
    assert.deepEqual([res.status, res.headers.get("retry-after"), await res.text()], [status, "0", "{}"]);
    assert.deepEqual([countPosts(upstream), gate.ledger.records.length], [1, 1]);
  });
}

test(
  "the refusal for an unreachable upstream does not claim that it may have seen the request",
  LIMIT,
  async (t) => {
    const upstream = await startTcpUpstream(t, () => {});
    const gate = await startGate(t, upstream.baseUrl);
    upstream.server.close();
    await once(upstream.server, "close");
    const res = await post(gate, "/v1/messages", {});
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [502, "upstream_unreachable"]);
    assert.doesNotMatch(await res.text(), /seen/);
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by], ["rejected", null]);
  },
);
