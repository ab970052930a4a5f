// One record for each response on a WebSocket, whatever else is under way on it.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { classify, hasSpentNothing } from "../../../src/core/ledger/spend.ts";
import { isTerminal } from "../../helpers/client/websocket.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
import { TEST_KEY } from "../../helpers/gate/gate.ts";
import {
  begin,
  complete,
  respond,
  send,
  type OnMessage,
  type SeenMessage,
} from "../../helpers/upstream/websocket-upstream.ts";

function open(t: TestContext, onMessage?: OnMessage) {
  return openThroughGate(t, { onMessage });
}

test("a response on a WebSocket leaves one record, with its usage, times and model", async (t) => {
  const { gate, client } = await open(t);
  client.send(CREATE);
  await client.until(isTerminal);
  const record = await gate.ledger.only();
  const { outcome, usage, tokens, model_requested, route, method, stream, status, response_id, spend } =
    record;
  assert.deepEqual(
    { outcome, usage, model_requested, route, method, stream, status, spend },
    {
      outcome: "completed",
      usage: "final",
      model_requested: "gpt-5.5",
      route: "/responses",
      method: "POST",
      stream: true,
      status: 101,
      spend: "count",
    },
  );
  assert.deepEqual([tokens?.input_total, tokens?.output], [10, 5]);
  assert.match(response_id ?? "", /^resp_/);
  assert.ok(record.ttft_ms !== null && record.bytes_out > 0);
  assert.equal(record.bytes_in, Buffer.byteLength(JSON.stringify(CREATE)));
});

test("the record is written before the client gets the end of the response", async (t) => {
  const { gate, client } = await open(t);
  client.send(CREATE);
  await client.until(isTerminal);
  assert.equal(gate.ledger.records.length, 1);
});

test("responses in lanes run side by side, and each gets its own usage", async (t) => {
  const begun: [SeenMessage, { id: string }][] = [];
  const { gate, client } = await open(t, (socket, message) => {
    begun.push([message, begin(socket, message)]);
    if (begun.length < 3) return;
    for (const [at, [first, response]] of [...begun.entries()].toReversed())
      complete(socket, first, response, { input: 100 + at, output: at });
  });
  for (const lane of ["a", "b", undefined])
    client.send({ ...CREATE, model: `model-${lane}`, stream_id: lane });
  const records = await gate.ledger.first(3);
  const seen = records.map(({ model_requested, model, tokens }) => [
    model_requested,
    model,
    tokens?.input_total,
  ]);
  assert.deepEqual(
    seen.toSorted(([one], [other]) => String(one).localeCompare(String(other))),
    [
      ["model-a", "model-a", 100],
      ["model-b", "model-b", 101],
      ["model-undefined", "model-undefined", 102],
    ],
  );
});

test("requests that wait in one lane get the responses in their order", async (t) => {
  const waiting: SeenMessage[] = [];
  const { gate, client } = await open(t, (socket, message) => {
    waiting.push(message);
    if (waiting.length === 3)
      for (const [at, each] of waiting.entries()) respond(socket, each, { input: at + 1 });
  });
  for (const model of ["one", "two", "three"]) client.send({ ...CREATE, model });
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ model_requested, tokens }) => [model_requested, tokens?.input_total]),
    [
      ["one", 1],
      ["two", 2],
      ["three", 3],
    ],
  );
});

test("the response that follows a steered one leaves a record of its own, though no message has asked for it", async (t) => {
  const state: { first: { id: string } | null } = { first: null };
  const { gate, client } = await open(t, (socket, message) => {
    if (message.type === "response.create") {
      state.first = begin(socket, message);
      return;
    }
    if (state.first !== null)
      complete(socket, message, state.first, { input: 7, type: "response.incomplete" });
    respond(socket, { model: "gpt-5.5" }, { input: 9 });
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "response.in_progress");
  client.send({ type: "response.steer", previous_response_id: state.first?.id, input: [] });
  const [first, second] = await gate.ledger.first(2);
  assert.deepEqual([first?.outcome, first?.tokens?.input_total], ["incomplete", 7]);
  assert.deepEqual([second?.outcome, second?.tokens?.input_total], ["completed", 9]);
  assert.notEqual(first?.response_id, second?.response_id);
});

test("a steered response's successor takes no record of a request that waits in its lane, and belongs to the steer", async (t) => {
  const steered = { id: "resp_steered", model: "gpt-5.5" };
  const { gate, client } = await open(t, (socket, message) => {
    const sent = (type: string, response: object) => send(socket, { stream_id: "a" }, { type, response });
    if (message.type === "response.steer") {
      send(socket, message, { type: "response.steer.accepted", steer: message });
      complete(socket, { stream_id: "a" }, steered, { input: 1, type: "response.incomplete" });
      const successor = { id: "resp_successor", previous_response_id: steered.id };
      sent("response.created", successor);
      complete(socket, { stream_id: "a" }, successor, { input: 2 });
      respond(socket, { stream_id: "a" }, { input: 3 });
    } else if (message["generate"] !== false) sent("response.created", steered);
  });
  client.send({ ...CREATE, stream_id: "a", client_metadata: { session_id: "first" } });
  await client.until(({ type }) => type === "response.created");
  client.send({ ...CREATE, stream_id: "a", client_metadata: { session_id: "waits" }, generate: false });
  const metadata = { client_metadata: { session_id: "steer" } };
  client.send({ type: "response.steer", previous_response_id: steered.id, input: [], ...metadata });
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ session, tokens, outcome }) => [session, tokens?.input_total, outcome]),
    [
      ["first", 1, "incomplete"],
      ["steer", 2, "completed"],
      ["waits", 3, "completed"],
    ],
  );
});

test("a WebSocket that has to close stays open for the response that follows an accepted steer", async (t) => {
  const steered = { id: "resp_steered", model: "gpt-5.5" };
  let finish: (() => void) | null = null;
  const { gate, client } = await open(t, (socket, message) => {
    if (message.type === "response.create") {
      send(socket, message, { type: "response.created", response: steered });
      return;
    }
    send(socket, message, { type: "response.steer.accepted", steer: message });
    finish = () => {
      complete(socket, message, steered, { input: 1 });
      setImmediate(() => respond(socket, message, { input: 2 }));
    };
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "response.created");
  client.send({ type: "response.steer", previous_response_id: steered.id, input: [] });
  await client.until(({ type }) => type === "response.steer.accepted");
  gate.gate.use(
    prepareSettings({ ...defaultConfig, upstreams: { default: { ...gate.upstream, websocket: false } } }),
  );
  (finish as (() => void) | null)?.();
  const records = await gate.ledger.first(2);
  assert.deepEqual(
    records.map(({ tokens }) => tokens?.input_total),
    [1, 2],
  );
  assert.equal((await client.closed).code, 1012);
});

test("response.completed and response.done for one id are one record", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    const response = begin(socket, message);
    complete(socket, message, response);
    complete(socket, message, response, { type: "response.done" });
    send(socket, message, { type: "codex.rate_limits", rate_limits: {} });
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "codex.rate_limits");
  await gate.ledger.only();
});

test("response.done alone ends a response", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    complete(socket, message, begin(socket, message), { type: "response.done", input: 3 });
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "response.done");
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.tokens?.input_total], ["completed", 3]);
});

test("an error in place of a response spends nothing, and the next response counts", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    if (message.model === "bad")
      send(socket, message, {
        type: "error",
        status: 404,
        error: { code: "model_not_found", message: "no" },
      });
    else respond(socket, message);
  });
  client.send({ ...CREATE, model: "bad" });
  client.send(CREATE);
  const [failed, worked] = await gate.ledger.first(2);
  assert.deepEqual(
    [failed?.outcome, failed?.status, failed?.error_type, failed?.usage, failed?.spend],
    ["error", 404, "model_not_found", "absent", "never"],
  );
  assert.equal(worked?.outcome, "completed");
});

test("an error while nothing is under way leaves no record", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    respond(socket, message);
    send(socket, message, {
      type: "error",
      status: 400,
      error: { code: "websocket_connection_limit_reached" },
    });
  });
  client.send(CREATE);
  await client.until(({ type }) => type === "error");
  assert.equal((await gate.ledger.only()).outcome, "completed");
});

test("a response that its upstream cuts off is unknown, not zero, and the client's WebSocket does not end cleanly", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    begin(socket, message);
    send(socket, message, { type: "response.output_text.delta", delta: "some words of an answer" });
    // What is compressed is sent later.
    socket.ping(undefined, undefined, () => socket.terminate());
  });
  client.send(CREATE);
  assert.equal((await client.closed).code, 1006);
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.outcome, record.usage, record.cut_by, record.tokens],
    ["cut", "absent", "upstream", null],
  );
  assert.ok((record.output_estimate ?? 0) > 0);
});

test("a client that leaves gives its upstream time to report the usage", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    const response = begin(socket, message);
    client.socket.terminate();
    client.socket.once("close", () =>
      setTimeout(() => complete(socket, message, response, { input: 11 }), 20),
    );
  });
  client.send(CREATE);
  const record = await gate.ledger.only();
  assert.deepEqual([record.usage, record.tokens?.input_total], ["final", 11]);
});

test("a handshake alone leaves no record", async (t) => {
  const { gate, client } = await open(t);
  client.socket.close(1000);
  assert.equal((await client.closed).code, 1000);
  assert.equal(gate.ledger.records.length + gate.ledger.notes.length, 0);
});

for (const freeWarmups of [false, true]) {
  test(`a warm-up has a flag and its usage, and ${freeWarmups ? "counts as nothing" : "counts"} where freeWarmups is ${freeWarmups}`, async (t) => {
    const { gate, client } = await openThroughGate(t, {
      upstream: { freeWarmups },
      onMessage: (socket, message) =>
        complete(socket, message, begin(socket, message), { input: 9_000, output: 0 }),
    });
    client.send({ ...CREATE, generate: false });
    await client.until(isTerminal);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.flags, record.usage, record.tokens?.input_total, classify(record), hasSpentNothing(record)],
      [["warmup"], "final", 9_000, freeWarmups ? "free" : "request", freeWarmups],
    );
  });
}

test("a response that generates is no warm-up, whatever its message says, and counts", async (t) => {
  const { gate, client } = await openThroughGate(t, { upstream: { freeWarmups: true } });
  client.socket.send(`{"type":"response.create","model":"gpt-5.5","generate":true,"generate":false}`);
  await client.until(isTerminal);
  const record = await gate.ledger.only();
  assert.deepEqual([record.flags, record.spend, hasSpentNothing(record)], [[], "count", false]);
});

test("a warm-up that is cut off has unknown usage, and is not taken to be free", async (t) => {
  const { gate, client } = await openThroughGate(t, {
    upstream: { freeWarmups: true },
    onMessage(socket, message) {
      begin(socket, message);
      socket.terminate();
    },
  });
  client.send({ ...CREATE, generate: false });
  await client.closed;
  const record = await gate.ledger.only();
  assert.deepEqual([record.flags, record.usage, hasSpentNothing(record)], [["warmup"], "absent", false]);
});

test("each response belongs to the session that its message names, and else to that of the handshake", async (t) => {
  const { gate, client } = await openThroughGate(t, { client: { headers: { "session-id": "first" } } });
  for (const client_metadata of [undefined, { session_id: "second", thread_id: "x" }, { session_id: 3 }]) {
    client.send({ ...CREATE, client_metadata });
    await client.until(isTerminal);
  }
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ session }) => session),
    ["first", "second", "first"],
  );
});

/** What Codex says of a turn, with a directory of the user. */
const turn = (n: number, words: object = {}) =>
  JSON.stringify({
    turn_id: `0000000${n}-0000-4000-8000-000000000000`,
    workspaces: { "/home/me/secret": {} },
    ...words,
  });

test("each response is the turn and the agent's that its message names, not those of the handshake", async (t) => {
  const { gate, client } = await openThroughGate(t, {
    client: { headers: { "session-id": "root", "thread-id": "root", "x-codex-turn-metadata": turn(0) } },
  });
  const child = "01a1fd25-81e0-7e81-8405-583513726bfc";
  for (const client_metadata of [
    { session_id: "root", thread_id: "root", "x-codex-turn-metadata": turn(1, { thread_source: "user" }) },
    {
      session_id: "root",
      thread_id: child,
      "x-codex-parent-thread-id": "root",
      "x-openai-subagent": "collab_spawn",
      "x-codex-turn-metadata": turn(2, { request_kind: "turn" }),
    },
    {
      session_id: "root",
      thread_id: child,
      "x-codex-turn-metadata": turn(3, { request_kind: "compaction" }),
    },
  ]) {
    client.send({ ...CREATE, client_metadata });
    await client.until(isTerminal);
  }
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ session, agent, agent_parent, agent_kind, turn: id }) => [
      session,
      agent,
      agent_parent,
      agent_kind,
      id?.slice(0, 8),
    ]),
    [
      ["root", null, null, "main", "00000001"],
      ["root", child, null, "subagent", "00000002"],
      ["root", child, null, "compaction", "00000003"],
    ],
  );
  assert.ok(!JSON.stringify(records).includes("secret"));
});

test("a key that a message names as its session is not in the record", async (t) => {
  const { gate, client } = await openThroughGate(t);
  client.send({ ...CREATE, client_metadata: { session_id: TEST_KEY } });
  await client.until(isTerminal);
  assert.ok(!JSON.stringify(await gate.ledger.only()).includes(TEST_KEY));
});

test("a compaction is a response like any other", async (t) => {
  const { gate, client } = await open(t, (socket, message) => {
    const response = begin(socket, message);
    const item = { id: "cmp_1", type: "compaction", encrypted_content: "x".repeat(50_000) };
    send(socket, message, { type: "response.output_item.done", output_index: 0, item });
    complete(socket, message, response, { input: 80_000, output: 900 });
  });
  client.send({ ...CREATE, input: [{ type: "compaction_trigger" }] });
  await client.until(isTerminal);
  const { outcome, usage, tokens, flags } = await gate.ledger.only();
  assert.deepEqual(
    [outcome, usage, tokens?.input_total, tokens?.output, flags],
    ["completed", "final", 80_000, 900, []],
  );
});

/** What services and proxies send besides events of a response (docs/websocket.md). */
const BESIDES: readonly [what: string, event: object][] = [
  [
    "codex.rate_limits",
    { type: "codex.rate_limits", rate_limits: { primary: { used_percent: 12, window_minutes: 300 } } },
  ],
  [
    "codex.rate_limits without limits",
    { type: "codex.rate_limits", rate_limits: null, usage: { input_tokens: 7 } },
  ],
  ["codex.keepalive", { type: "codex.keepalive" }],
  ["response.metadata", { type: "response.metadata", headers: { "openai-model": "other" } }],
  ["responsesapi.websocket_timing", { type: "responsesapi.websocket_timing", timing_metrics: {} }],
  ["an event with a response of another kind", { type: "future.event", response: "resp" }],
];

for (const [what, event] of BESIDES) {
  test(`${what} passes at any time, leaves no record, and changes none`, async (t) => {
    const { gate, client } = await open(t, (socket, message) => {
      send(socket, message, event);
      const response = begin(socket, message);
      send(socket, message, event);
      complete(socket, message, response, { input: 21, output: 4 });
      send(socket, message, event);
    });
    client.send(CREATE);
    await client.until(isTerminal);
    await client.until(({ type }) => type === (event as { type: string }).type);
    const { outcome, model, tokens, flags } = await gate.ledger.only();
    assert.deepEqual(
      [outcome, model, tokens?.input_total, tokens?.output, flags],
      ["completed", "gpt-5.5", 21, 4, []],
    );
    assert.equal(client.events.filter(({ type }) => type === (event as { type: string }).type).length, 3);
  });
}
