// Each message on a WebSocket is judged by what is in force when it arrives, and a refusal is an event that Codex shows once.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import type { Refusal } from "../../../src/core/refusals/refusal.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { isTerminal, openSocket, refusedSocket } from "../../helpers/client/websocket.ts";
import { CREATE, openThroughGate, startGateWithWebSockets } from "../../helpers/gate/gate-with-websocket.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { TEST_KEY, type TestGate } from "../../helpers/gate/gate.ts";
import { MemoryTokens, peersOf } from "../../helpers/gate/memory.ts";
import { begin, complete } from "../../helpers/upstream/websocket-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** A group whose tools may use models of one name. */
function onlyModels(...patterns: string[]): Partial<Config> {
  return rulesForTools({ groups: { frugal: { models: patterns } }, tools: { "*": { group: "frugal" } } });
}

/** Puts another configuration into force, as a reload does. */
function reconfigure({ gate, upstream }: TestGate, changes: Partial<Config>): void {
  gate.use(prepareSettings({ ...defaultConfig, upstreams: { default: upstream }, ...changes }));
}

test("a model that the group does not allow is refused with an error event of status 400, and the WebSocket goes on", async (t) => {
  const { gate, upstream, client } = await openThroughGate(t, { config: onlyModels("gpt-5.5*") });
  client.send({ ...CREATE, model: "gpt-6.2-sol", stream_id: "lane" });
  const refused = await client.until(isTerminal);
  assert.deepEqual(
    [refused.type, refused.status, refused.stream_id, refused.error?.code],
    ["error", 400, "lane", "model_not_allowed"],
  );
  assert.match(refused.error?.message ?? "", / Type: tollkeeper config edit$/);
  client.send(CREATE);
  assert.equal((await client.until(isTerminal)).type, "response.completed");
  assert.deepEqual(
    upstream.messages.map(({ model }) => model),
    ["gpt-5.5"],
  );
  const records = await gate.ledger.first(2);
  assert.deepEqual(
    records.map(({ outcome, status, error_type }) => [outcome, status, error_type]),
    [
      ["rejected", 400, "model_not_allowed"],
      ["completed", 101, null],
    ],
  );
});

test("a group, a pause and a budget that come into force while a WebSocket is open count for its next message", async (t) => {
  let paused: Refusal | null = null;
  let spent: Refusal | null = null;
  const pauses = { judge: () => paused, namesTools: false };
  const budgets = {
    counting: null,
    judge: () => spent,
    hold: () => ({ percent: null, reserved: null, release() {} }),
  };
  const { gate, client } = await openThroughGate(t, { pauses, budgets });
  const answer = async () => {
    client.send(CREATE);
    const { type, error } = await client.until(isTerminal);
    return error?.code ?? type;
  };
  assert.equal(await answer(), "response.completed");
  reconfigure(gate, onlyModels("other"));
  assert.equal(await answer(), "model_not_allowed");
  reconfigure(gate, {});
  paused = { code: "paused", problem: "the tool is paused", command: "tollkeeper resume" };
  assert.equal(await answer(), "paused");
  paused = null;
  spent = { code: "budget_spent", problem: "a budget is spent", command: "tollkeeper budget" };
  reconfigure(gate, rulesForTools({ budgets: [{ usd: 1, per: "day" }] }));
  assert.equal(await answer(), "budget_spent");
  reconfigure(gate, {});
  assert.equal(await answer(), "response.completed");
});

/** Budgets with room for three requests at a time, and how many hold a place. */
function budgetsForThree() {
  let held = 0;
  const refusal: Refusal = {
    code: "budget_spent",
    problem: "a budget is spent",
    command: "tollkeeper budget",
  };
  return {
    held: () => held,
    budgets: {
      counting: null,
      judge: () => (held < 3 ? null : refusal),
      hold() {
        held += 1;
        let isHeld = true;
        return {
          percent: null,
          reserved: null,
          release() {
            if (isHeld) held -= 1;
            isHeld = false;
          },
        };
      },
    },
    config: rulesForTools({ budgets: [{ usd: 1, per: "day" }] }),
  };
}

/** Opens a WebSocket with such budgets, on which a response runs. */
async function openWithBudget(t: TestContext) {
  const { held, budgets, config } = budgetsForThree();
  const opened = await openThroughGate(t, {
    budgets,
    config,
    onMessage: (socket, seen) => {
      if (seen.type === "response.create") begin(socket, seen);
    },
  });
  opened.client.send(CREATE);
  const { response } = await opened.client.until(({ type }) => type === "response.in_progress");
  return { ...opened, held, response };
}

/** Messages after which a service may begin a response, though they do not ask for one. */
const BEGINNING = [
  { type: "response.steer", previous_response_id: "ID", input: [] },
  { type: "Response.create", model: "gpt-5.5", input: [] },
  { type: "response.unknown", input: [] },
];

for (const message of BEGINNING) {
  test(
    `${message.type} counts in a budget before its response begins, so many at once do not exceed it`,
    LIMIT,
    async (t) => {
      const { held, gate, upstream, client, response } = await openWithBudget(t);
      for (let count = 0; count < 10; count += 1)
        client.send({
          ...message,
          ...("previous_response_id" in message && { previous_response_id: response?.id }),
        });
      for (let count = 0; count < 8; count += 1)
        assert.equal((await client.until(isTerminal)).error?.code, "budget_spent");
      assert.equal(upstream.messages.length, 3);
      assert.equal(held(), 3);
      const [socket] = upstream.sockets;
      assert.ok(socket);
      complete(socket, {}, { id: response?.id ?? "" }, { type: "response.incomplete" });
      complete(socket, {}, begin(socket, {}));
      await gate.ledger.first(10);
      await client.until(({ type }) => type === "response.completed");
      assert.equal(held(), 1);
      client.socket.terminate();
      await waitUntil("the end of what is held", () => (held() === 0 ? true : null));
    },
  );
}

test(
  "what a message holds ends with the response that it could have steered, and messages that begin none hold nothing",
  LIMIT,
  async (t) => {
    const { held, upstream, client, response } = await openWithBudget(t);
    for (const type of ["response.inject", "response.processed", "response.steer"])
      for (let count = 0; count < (type === "response.steer" ? 1 : 20); count += 1)
        client.send({ type, previous_response_id: response?.id });
    await waitUntil("42 messages", () => (upstream.messages.length === 42 ? true : null));
    assert.equal(held(), 2);
    const [socket] = upstream.sockets;
    assert.ok(socket);
    complete(socket, {}, { id: response?.id ?? "" });
    await waitUntil("the end of what is held", () => (held() === 0 ? true : null));
    assert.equal(client.socket.readyState, client.socket.OPEN);
  },
);

test("a message about a response that runs needs no place beside it, and another response does", async (t) => {
  const { upstream, client } = await openThroughGate(t, {
    config: rulesForTools({
      groups: { calm: { brake: { concurrent: 1 } } },
      tools: { "*": { group: "calm" } },
    }),
    onMessage: (socket, seen) => {
      if (seen.type === "response.create") begin(socket, seen);
    },
  });
  client.send(CREATE);
  const { response } = await client.until(({ type }) => type === "response.in_progress");
  for (const type of ["response.inject", "response.steer", "response.processed"])
    client.send({ type, previous_response_id: response?.id });
  client.send(CREATE);
  client.send({ type: "response.steer", previous_response_id: "resp_of_another_socket" });
  for (const refused of [await client.until(isTerminal), await client.until(isTerminal)])
    assert.equal(refused.error?.code, "braked");
  await waitUntil("4 messages", () => (upstream.messages.length === 4 ? true : null));
  assert.deepEqual(
    upstream.messages.map(({ type }) => type),
    ["response.create", "response.inject", "response.steer", "response.processed"],
  );
  const [socket] = upstream.sockets;
  assert.ok(socket);
  complete(socket, {}, { id: response?.id ?? "" });
  await client.until(isTerminal);
  client.send(CREATE);
  await client.until(({ type }) => type === "response.in_progress");
});

test("a token that is revoked while a WebSocket is open opens no response any more", async (t) => {
  const tokens = new MemoryTokens();
  const token = tokens.add("codex");
  // The gate reads the store when it starts.
  const { gate, upstream, client } = await openThroughGate(t, {
    tokens,
    config: { access: { mode: "token", peerUid: [] } },
    client: { headers: { authorization: `Bearer ${token}` } },
  });
  client.send(CREATE);
  assert.equal((await client.until(isTerminal)).type, "response.completed");
  tokens.entries = [];
  gate.tokenGuard.reload();
  client.send(CREATE);
  assert.equal((await client.until(isTerminal)).error?.code, "token_required");
  assert.equal(upstream.messages.length, 1);
});

test(
  "a WebSocket closes with 1012 once its user is no longer listed, after the response that runs",
  LIMIT,
  async (t) => {
    const held = withResolvers<() => void>();
    const { gate, upstream, client } = await openThroughGate(t, {
      peers: peersOf(12_345),
      config: { access: { mode: "open", peerUid: [12_345] } },
      onMessage(socket, message) {
        const response = begin(socket, message);
        held.resolve(() => complete(socket, message, response));
      },
    });
    client.send(CREATE);
    const finish = await held.promise;
    reconfigure(gate, { access: { mode: "open", peerUid: [12_346] } });
    client.send(CREATE);
    finish();
    const { code, reason } = await client.closed;
    assert.deepEqual([code, reason], [1012, "the configuration no longer admits this connection"]);
    assert.equal(client.events.at(-1)?.type, "response.completed");
    assert.equal(upstream.messages.length, 1);
    assert.equal((await refusedSocket(gate)).headers["x-tollkeeper-refusal"], "peer_not_allowed");
  },
);

test(
  "a WebSocket closes with 1012 once its host name is no longer listed, whatever becomes of its token",
  LIMIT,
  async (t) => {
    const tokens = new MemoryTokens();
    const token = tokens.add("codex");
    const listen = { ...defaultConfig.listen, allowedHosts: ["box.example"] };
    const { gate, upstream, client } = await openThroughGate(t, {
      tokens,
      config: { listen },
      client: { headers: { host: "box.example", authorization: `Bearer ${token}` } },
    });
    client.send(CREATE);
    await client.until(isTerminal);
    reconfigure(gate, { listen: { ...listen, allowedHosts: [] } });
    assert.equal((await client.closed).code, 1012);
    assert.equal(upstream.messages.length, 1);
  },
);

test("a handshake without the token that is needed is refused with 400, which Codex shows", async (t) => {
  const { gate, upstream } = await startGateWithWebSockets(t, {
    config: { access: { mode: "token", peerUid: [] } },
  });
  const { status, headers } = await refusedSocket(gate);
  assert.deepEqual([status, headers["x-tollkeeper-refusal"]], [400, "token_required"]);
  assert.equal(upstream.handshakes.length, 0);
});

test("a change of the key closes a WebSocket with 1012 before its next message goes, and a new one uses the new key", async (t) => {
  const { gate, upstream, client } = await openThroughGate(t);
  client.send(CREATE);
  await client.until(isTerminal);
  gate.keys.set({ name: "default", origin: gate.upstream.origin }, `${TEST_KEY}-new`);
  gate.keyring.forget();
  client.send(CREATE);
  assert.equal((await client.closed).code, 1012);
  assert.equal(upstream.messages.length, 1);
  const again = await openSocket(t, gate);
  again.send(CREATE);
  await again.until(isTerminal);
  assert.deepEqual(
    upstream.handshakes.map(({ headers }) => headers.authorization),
    [`Bearer ${TEST_KEY}`, `Bearer ${TEST_KEY}-new`],
  );
});

test("a message whose key cannot be read is refused, and leaves a record", async (t) => {
  const { gate, upstream, client } = await openThroughGate(t);
  gate.keys.failure = new KeyFailure("locked", "the keychain is locked", "unlock it");
  gate.keyring.forget();
  client.send(CREATE);
  assert.equal((await client.until(isTerminal)).type, "error");
  assert.equal(upstream.messages.length, 0);
  const { outcome, error_type, upstream: name } = await gate.ledger.only();
  assert.deepEqual([outcome, error_type, name], ["rejected", "key_locked", "default"]);
});

test("a WebSocket closes with 1012 when its upstream is changed: at once, or after the response that runs", async (t) => {
  const held = withResolvers<() => void>();
  const { gate, client } = await openThroughGate(t, {
    onMessage(socket, message) {
      const response = begin(socket, message);
      held.resolve(() => complete(socket, message, response));
    },
  });
  const idle = await openSocket(t, gate);
  client.send(CREATE);
  await client.until(({ type }) => type === "response.created");
  gate.gate.use(
    prepareSettings({ ...defaultConfig, upstreams: { default: { ...gate.upstream, websocket: false } } }),
  );
  assert.equal((await idle.closed).code, 1012);
  (await held.promise)();
  assert.equal((await client.closed).code, 1012);
  assert.equal(client.events.at(-1)?.type, "response.completed");
  assert.equal((await gate.ledger.only()).usage, "final");
});

test("a steer of a response whose model the group allows passes", async (t) => {
  const { upstream, client } = await openThroughGate(t, { config: onlyModels("gpt-5.5") });
  client.send(CREATE);
  const { response } = await client.until(isTerminal);
  client.send({ type: "response.steer", previous_response_id: response?.id, input: [] });
  await client.until(isTerminal);
  assert.deepEqual(
    upstream.messages.map(({ type }) => type),
    ["response.create", "response.steer"],
  );
});
