import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { chunk, chunks, DONE } from "../../core/usage/chat/chat-bodies.ts";
import { type RawClient, sendRaw } from "../../helpers/client/raw-client.ts";
import { waitUntilHandled, type TestGate } from "../../helpers/gate/gate.ts";
import { startGateWithHeldUpstream } from "../../helpers/gate/gate-with-upstream.ts";

// Some clients of Chat Completions close the connection as soon as they know the end: at `[DONE]`, or at the finish reason. The
// usage may come behind it. The model's work is done by then, so this is no cut.

const LIMIT = { timeout: 300_000 };
const SHORT_GRACE_MS = 20;
/** Too long for any test: only the end of the upstream's response ends the exchange. */
const LONG_GRACE_MS = 60_000;

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const LAST = { id: "c1", model: "m", choices: [], usage: USAGE };

interface Stream {
  gate: TestGate;
  client: RawClient;
  response: ServerResponse;
}

/** Opens a stream of chat chunks through a gate. The client has all of them. */
async function openChat(t: TestContext, graceMs: number, parts: (object | string)[]): Promise<Stream> {
  const { held, gate } = await startGateWithHeldUpstream(t, { config: { abort: { graceMs } } });
  const body = `{"model":"m","stream":true}`;
  const head = `Host: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const client = await sendRaw(t, gate.port, `POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  const response = await held;
  response.write(chunks(...parts, ": all"));
  await client.until(/: all/);
  return { gate, client, response };
}

/** The client closes the connection, and the gate has noticed that. */
async function leave({ client, gate }: Stream): Promise<void> {
  client.socket.destroy();
  await client.closed;
  await waitUntilHandled(gate);
}

const TEXT = chunk({ content: "a" });

for (const [where, parts] of [
  ["at the finish reason", [TEXT, chunk({}, "stop")]],
  ["at [DONE]", [TEXT, chunk({}, "stop"), DONE]],
] as const) {
  test(
    `usage that follows a client's leaving ${where} is recorded as that of a completed request`,
    LIMIT,
    async (t) => {
      const stream = await openChat(t, LONG_GRACE_MS, [...parts]);
      await leave(stream);
      assert.deepEqual(stream.gate.ledger.records, []);
      stream.response.end(chunks(LAST, DONE));
      const record = await stream.gate.ledger.only();
      assert.deepEqual(
        [record.outcome, record.cut_by, record.stop, record.usage, record.spend, record.tokens?.total],
        ["completed", null, "stop", "final", "count", 15],
      );
      assert.deepEqual(
        [record.route, record.model_requested, record.stream],
        ["/chat/completions", "m", true],
      );
    },
  );
}

for (const [what, parts, expected] of [
  ["at the finish reason", [TEXT, chunk({}, "stop")], ["completed", null, "absent"]],
  ["at the limit of tokens", [TEXT, chunk({}, "length")], ["incomplete", null, "absent"]],
  ["at [DONE]", [TEXT, DONE], ["completed", null, "absent"]],
  ["before the model has stopped", [TEXT], ["cut", "client", "absent"]],
  [
    "when one of two choices has stopped",
    [TEXT, chunk({}, "stop"), { choices: [{ index: 1, delta: { content: "b" } }] }],
    ["cut", "client", "absent"],
  ],
] as const) {
  for (const graceMs of [SHORT_GRACE_MS, 0])
    test(
      `a client that leaves ${what}, with an upstream that never ends, is recorded as ${expected[0]} after ${graceMs} ms`,
      LIMIT,
      async (t) => {
        const stream = await openChat(t, graceMs, [...parts]);
        const upstreamClosed = once(stream.response, "close");
        await leave(stream);
        const record = await stream.gate.ledger.only();
        assert.deepEqual([record.outcome, record.cut_by, record.usage], expected);
        await upstreamClosed;
      },
    );
}

test(
  "an upstream that breaks after the finish reason, while the client still waits, is recorded as cut",
  LIMIT,
  async (t) => {
    const { gate, response } = await openChat(t, LONG_GRACE_MS, [TEXT, chunk({}, "stop")]);
    response.destroy();
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.usage], ["cut", "upstream", "absent"]);
  },
);
