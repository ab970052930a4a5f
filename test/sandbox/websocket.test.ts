// The WebSocket mode of the Responses API, as the sandbox has it, and through the gate: what a user without a key can try.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { isTerminal, openSocket, refusedSocket, type SeenEvent } from "../helpers/client/websocket.ts";
import { CREATE } from "../helpers/gate/gate-with-websocket.ts";
import { startGate, TEST_KEY } from "../helpers/gate/gate.ts";
import { bearer, openSandbox } from "./sandbox-client.ts";

const HELLO = { ...CREATE, input: "good morning" };

const LIMIT = { timeout: 300_000 };

interface SeenResponse {
  id: string;
  previous_response_id: string | null;
  output: unknown[];
  usage: { input_tokens: number; output_tokens: number };
}

async function open(t: TestContext, headers: Record<string, string> = {}) {
  const sandbox = await openSandbox(t);
  const port = Number(new URL(sandbox.baseUrl).port);
  const options = { headers: { ...bearer(sandbox), ...headers } };
  const client = await openSocket(t, { port }, options);
  const ask = async (message: object): Promise<SeenEvent & { response?: SeenResponse }> => {
    client.send(message);
    return (await client.until(isTerminal)) as SeenEvent & { response?: SeenResponse };
  };
  return { sandbox, port, client, ask, again: () => openSocket(t, { port }, options) };
}

test("a message gets the events of a stream, and is billed as a request", LIMIT, async (t) => {
  const { sandbox, client, ask } = await open(t);
  const { type, response } = await ask(HELLO);
  assert.equal(type, "response.completed");
  assert.equal(client.events[0]?.type, "response.created");
  assert.ok(client.events.some((event) => event.type === "response.output_text.delta"));
  const [row] = sandbox.counts();
  assert.deepEqual([row?.route, row?.count.requests], ["/responses", 1]);
  assert.equal(row?.count.output, response?.usage.output_tokens);
});

test(
  "a warm-up generates nothing, and the next response continues it on this WebSocket only",
  LIMIT,
  async (t) => {
    const { ask, again } = await open(t);
    const { response } = await ask({ ...HELLO, generate: false });
    assert.deepEqual([response?.output, response?.usage.output_tokens], [[], 0]);
    const next = { ...HELLO, previous_response_id: response?.id };
    assert.ok(((await ask(next)).response?.usage.input_tokens ?? 0) > (response?.usage.input_tokens ?? 0));
    const other = await again();
    other.send(next);
    const { status, error } = await other.until(isTerminal);
    assert.deepEqual([status, error?.code], [400, "previous_response_not_found"]);
  },
);

test("lanes run side by side, and each event names its own", LIMIT, async (t) => {
  const { client } = await open(t, { "x-sandbox": "pace=20" });
  for (const lane of ["a", "b"]) client.send({ ...HELLO, stream_id: lane });
  await client.until(isTerminal);
  await client.until(isTerminal);
  const lanes = client.events.map(({ stream_id: lane }) => lane);
  assert.ok(lanes.indexOf("b") < lanes.lastIndexOf("a") && lanes.indexOf("a") < lanes.lastIndexOf("b"));
});

test(
  "a response that is steered ends as incomplete, and a successor follows; both are billed and recorded",
  LIMIT,
  async (t) => {
    const sandbox = await openSandbox(t, { keys: [{ name: "test", secret: TEST_KEY, group: "all" }] });
    const gate = await startGate(t, sandbox.baseUrl, { upstream: { websocket: "auto" } });
    const client = await openSocket(t, gate, { headers: { "x-sandbox": "pace=5" } });
    client.send({ ...HELLO, stream_id: "a" });
    const { response } = await client.until(({ type }) => type === "response.created");
    const steer = { type: "response.steer", previous_response_id: response?.id, input: "make it shorter" };
    client.send({ ...steer, stream_id: "a" });
    await client.until(({ type }) => type === "response.steer.failed");
    client.send(steer);
    await client.until(({ type }) => type === "response.steer.accepted");
    const first = await client.until(isTerminal);
    const second = await client.until(isTerminal);
    assert.deepEqual([first.type, first.response?.id], ["response.incomplete", response?.id]);
    assert.deepEqual([second.type, second.stream_id], ["response.completed", "a"]);
    const records = await gate.ledger.first(2);
    assert.deepEqual(
      records.map(({ response_id: id, outcome }) => [id, outcome]),
      [
        [first.response?.id, "incomplete"],
        [second.response?.id, "completed"],
      ],
    );
    const [row] = sandbox.counts();
    const output = records.reduce((sum, { tokens }) => sum + (tokens?.output ?? 0), 0);
    assert.deepEqual([row?.count.requests, row?.count.output], [2, output]);
    client.send(steer);
    assert.equal(
      (await client.until(({ type }) => type === "response.steer.failed")).type,
      "response.steer.failed",
    );
  },
);

for (const [what, message] of [
  ["an unknown model", { ...HELLO, model: "no-such-model" }],
  ["an unknown type", { type: "response.start" }],
  ["no input", { ...CREATE, input: undefined }],
  ["no object", []],
] as const) {
  test(
    `a message with ${what} gets an error event with a status, and the next one a response`,
    LIMIT,
    async (t) => {
      const { ask } = await open(t);
      const { type, status } = await ask(message);
      assert.equal(type, "error");
      assert.ok(status === 400 || status === 404);
      assert.equal((await ask(HELLO)).type, "response.completed");
    },
  );
}

test(
  "pings are answered, also between the frames of a message, and a Close is returned",
  LIMIT,
  async (t) => {
    const { client } = await open(t);
    const text = JSON.stringify(HELLO);
    client.socket.send(text.slice(0, 20), { fin: false });
    client.socket.ping("here");
    const [payload] = (await once(client.socket, "pong")) as [Buffer];
    assert.equal(payload.toString(), "here");
    client.socket.send(text.slice(20), { fin: true });
    await client.until(isTerminal);
    client.socket.close(1000, "done");
    assert.deepEqual(await client.closed, { code: 1000, reason: "done" });
  },
);

test("a message of 16 MiB closes the WebSocket with 1009", LIMIT, async (t) => {
  const { client } = await open(t);
  client.socket.send("x".repeat(16 * 1024 * 1024));
  assert.equal((await client.closed).code, 1009);
});

test("a switch of the handshake cuts each response off", LIMIT, async (t) => {
  const { client } = await open(t, { "x-sandbox": "cut=3" });
  client.send(HELLO);
  assert.equal((await client.closed).code, 1006);
  assert.equal(client.events.length, 3);
});

test(
  "a handshake without a key the sandbox knows gets 401, one elsewhere 426, and both end",
  LIMIT,
  async (t) => {
    const { port, sandbox } = await open(t);
    assert.equal((await refusedSocket({ port })).status, 401);
    const headers = bearer(sandbox);
    assert.equal((await refusedSocket({ port }, { path: "/v1/messages", headers })).status, 426);
    const h2c = request(`${sandbox.baseUrl}/models`, {
      headers: { ...headers, connection: "Upgrade", upgrade: "h2c" },
    });
    h2c.end();
    const [response] = (await once(h2c, "response")) as [{ statusCode: number; resume(): void }];
    assert.equal(response.statusCode, 426);
    response.resume();
  },
);

test(
  "through the gate, each response on a WebSocket to the sandbox has a record that equals its books",
  LIMIT,
  async (t) => {
    const sandbox = await openSandbox(t, { keys: [{ name: "test", secret: TEST_KEY, group: "all" }] });
    const gate = await startGate(t, sandbox.baseUrl, { upstream: { websocket: "auto" } });
    const client = await openSocket(t, gate);
    assert.equal(client.socket.readyState, WebSocket.OPEN);
    const messages = [
      { ...HELLO, generate: false },
      HELLO,
      { ...HELLO, input: "and now something longer than that" },
    ];
    for (const message of messages) {
      client.send(message);
      await client.until(isTerminal);
    }
    const records = await gate.ledger.first(3);
    assert.deepEqual(
      records.map(({ flags }) => flags),
      [["warmup"], [], []],
    );
    const [row] = sandbox.counts();
    const sum = (name: "input_uncached" | "cache_read" | "output") =>
      records.reduce((total, { tokens }) => total + (tokens?.[name] ?? 0), 0);
    assert.deepEqual(
      [sum("input_uncached"), sum("cache_read"), sum("output")],
      [row?.count.input_uncached, row?.count.cache_read, row?.count.output],
    );
  },
);
