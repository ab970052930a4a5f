// One record for each response on a WebSocket, whatever else is under way on it.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { isTerminal } from "../../helpers/client/websocket.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
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
    socket.terminate();
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
