import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { post, type TestGate } from "../../helpers/gate/gate.ts";
import { sendJson, SSE } from "../../helpers/upstream/scripted-upstream.ts";

const SESSION = { "x-claude-code-session-id": "session-1" };
const MARK = { cache_control: { type: "ephemeral" } };
const SECRET = "a sentence that is in the system prompt";

function body(count: number, tool = "bash") {
  return {
    model: "m",
    tools: [{ name: tool, ...MARK }],
    system: [{ type: "text", text: SECRET }],
    messages: Array.from({ length: count }, (_, at) => ({
      role: "user",
      content: [{ type: "text", text: `${at}` }],
    })),
  };
}

function message(read: number, written: number, diagnostics: unknown = null) {
  return {
    id: "msg_1",
    type: "message",
    model: "m",
    content: [],
    stop_reason: "end_turn",
    diagnostics,
    usage: {
      input_tokens: 100,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
      output_tokens: 9,
    },
  };
}

async function send(gate: TestGate, sent: object, headers: Record<string, string> = SESSION) {
  await (await post(gate, "/v1/messages", sent, headers)).text();
  const { records } = gate.ledger;
  const { miss, miss_by: by, miss_tokens: tokens } = records.at(-1) ?? assert.fail();
  return { miss, by, tokens };
}

const NONE = { miss: null, by: null, tokens: null };

test("a record says why a request missed what the one before it had in the cache, unless the service says so", async (t) => {
  const answers = [
    message(0, 30_000),
    message(30_000, 1_000),
    message(0, 31_000),
    message(0, 31_000, {
      cache_miss_reason: { type: "system_changed", cache_missed_input_tokens: 30_500 },
    }),
    message(0, 31_000),
    message(0, 31_000),
  ];
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) =>
    sendJson(res, answers.shift() ?? {}),
  );
  assert.deepEqual(await send(gate, body(1)), NONE);
  assert.deepEqual(await send(gate, body(3)), NONE);
  assert.deepEqual(await send(gate, body(5, "read")), {
    miss: "tools_changed",
    by: "inferred",
    tokens: 31_000,
  });
  assert.deepEqual(await send(gate, body(7, "glob")), { miss: "system_changed", by: "said", tokens: 30_500 });
  assert.deepEqual(await send(gate, body(7, "grep"), { "x-claude-code-session-id": "session-2" }), NONE);
  assert.deepEqual(await send(gate, body(9, "glob"), {}), NONE, "without a session");
  assert.equal(upstream.seen.length, 6);
  assert.deepEqual(JSON.parse(upstream.seen[1]?.body.toString() ?? ""), body(3), "the body is unchanged");
  assert.doesNotMatch(JSON.stringify(gate.ledger.records), new RegExp(SECRET));
});

test("an agent of a session is compared with itself", async (t) => {
  const answers = [message(0, 30_000), message(0, 30_000), message(30_000, 0)];
  const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, answers.shift() ?? {}));
  const agent = { ...SESSION, "x-claude-code-agent-id": "a9ce25b5e8a1a2f4c" };
  assert.deepEqual(await send(gate, body(1)), NONE);
  assert.deepEqual(await send(gate, body(3, "read"), agent), NONE);
  assert.deepEqual(await send(gate, body(3)), NONE);
});

test("of two streams with the same prompt, the second began before it could read what the first wrote", async (t) => {
  const held: ServerResponse[] = [];
  const both = withResolvers<void>();
  const { gate } = await startGateWithUpstream(t, (_seen, res) => {
    held.push(res);
    if (held.length === 2) both.resolve();
  });
  const sent = { ...body(3), stream: true };
  const responses = [post(gate, "/v1/messages", sent, SESSION), post(gate, "/v1/messages", sent, SESSION)];
  await both.promise;
  for (const res of held) {
    res.writeHead(200, SSE);
    for (const event of [
      { type: "message_start", message: message(0, 30_000) },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ])
      res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    res.end();
    await gate.ledger.first(held.indexOf(res) + 1);
  }
  for (const response of responses) await (await response).text();
  const misses = gate.ledger.records.map(({ miss, miss_tokens: tokens }) => [miss, tokens]);
  assert.deepEqual(misses, [
    [null, null],
    ["parallel", 30_000],
  ]);
});
