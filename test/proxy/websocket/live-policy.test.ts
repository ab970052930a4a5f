// Turns of the Live API are judged as requests: by the model that the setup names, and by what is in force when they begin. A refusal is a
// Close with a reason, because the protocol has no error message.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import type { Refusal } from "../../../src/core/refusals/refusal.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { RecordingBudgets } from "../../helpers/gate/recording-budgets.ts";
import type { TestGate } from "../../helpers/gate/gate.ts";
import {
  isSetUp,
  isTurnComplete,
  openLive,
  openLiveThroughGate,
  SAY,
  SETUP,
  SOUND,
  startLiveGate,
  type SeenLiveMessage,
} from "../../helpers/gate/gate-with-live.ts";
import { sendBinary } from "../../helpers/upstream/live-upstream.ts";

const BUDGET = rulesForTools({ budgets: [{ usd: 1, per: "day" }] });
const SPENT: Refusal = { code: "budget_spent", problem: "a budget is spent", command: "tollkeeper budget" };

/** A group whose tools may use models of one name. */
function onlyModels(...patterns: string[]): Partial<Config> {
  return rulesForTools({ groups: { frugal: { models: patterns } }, tools: { "*": { group: "frugal" } } });
}

/** Puts another configuration into force, as a reload does. */
function reconfigure({ gate, upstream }: TestGate, changes: Partial<Config>): void {
  gate.use(prepareSettings({ ...defaultConfig, upstreams: { default: upstream }, ...changes }));
}

test("a model that the group does not allow is refused with a Close, and its setup does not reach the service", async (t) => {
  const { gate, upstream } = await startLiveGate(t, { config: onlyModels("gemini-2.5-*") });
  const client = await openLive(t, gate);
  client.send(SETUP);
  const { code, reason } = await client.closed;
  assert.equal(code, 1008);
  assert.match(reason, /^tollkeeper: group frugal does not allow the model\. Type: /);
  assert.deepEqual(upstream.messages, []);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual([record?.outcome, record?.error_type], ["rejected", "model_not_allowed"]);
});

test("a model that the group allows passes, and is that of each turn", async (t) => {
  const { gate, client } = await openLiveThroughGate(t, { config: onlyModels("gemini-3.8-*") });
  client.send(SAY);
  await client.until(isTurnComplete);
  assert.equal((await gate.ledger.first(1))[0]?.model_requested, "gemini-3.8-live");
});

for (const [name, message] of Object.entries({
  "two models": '{"setup":{"model":"models/gemini-2.5-flash","model":"models/gemini-3.8-live"}}',
  "two setups": '{"setup":{"model":"models/gemini-2.5-flash"},"setup":{"model":"models/gemini-3.8-live"}}',
  "another spelling of setup": String.raw`{"s\u0065tup":{"model":"models/gemini-3.8-live"}}`,
  "another spelling of model":
    '{"setup":{"model":"models/gemini-2.5-flash","Model":"models/gemini-3.8-live"}}',
  "a setup beside something": '{"setup":{"model":"models/gemini-2.5-flash"},"clientContent":{}}',
  "a path in the model": '{"setup":{"model":"models/gemini-2.5-flash/../gemini-3.8-live"}}',
  "no setup first": '{"clientContent":{"turnComplete":true}}',
  "no JSON": "hello",
})) {
  test(`a first message with ${name} is refused, whatever rules there are`, async (t) => {
    const { gate, upstream } = await startLiveGate(t);
    const client = await openLive(t, gate);
    client.socket.send(message);
    assert.equal((await client.closed).code, 1008);
    assert.deepEqual(upstream.messages, []);
  });
}

test("a second setup is refused: it could name another model", async (t) => {
  const { upstream, client } = await openLiveThroughGate(t);
  client.send({ setup: { model: "models/gemini-other" } });
  assert.equal((await client.closed).code, 1008);
  assert.deepEqual(upstream.messages, [SETUP]);
});

test("an alias is put into the setup, and all else of it stays", async (t) => {
  const { gate, upstream } = await startLiveGate(t, {
    config: { aliases: { "my-live": "gemini-3.8-live" } },
  });
  const client = await openLive(t, gate);
  const rest = { generationConfig: { responseModalities: ["AUDIO"] } };
  client.send({ setup: { model: "models/my-live", ...rest } });
  await client.until(isSetUp);
  client.send(SAY);
  await client.until(isTurnComplete);
  assert.deepEqual(upstream.messages[0], { setup: { model: "models/gemini-3.8-live", ...rest } });
  const [record] = await gate.ledger.first(1);
  assert.deepEqual([record?.model_requested, record?.alias], ["my-live", "gemini-3.8-live"]);
});

const ALIAS = { aliases: { "my-live": "gemini-3.8-live" } };
const MY_SETUP = { setup: { model: "models/my-live" } };

for (const [name, changed] of Object.entries({
  "another alias": { aliases: { "my-live": "gemini-4-live" } },
  "an alias of the tool": rulesForTools({ tools: { unknown: { aliases: { "my-live": "gemini-4-live" } } } }),
  "no alias": {},
})) {
  test(`a WebSocket whose setup would now get ${name} closes, so that the tool sends its setup again`, async (t) => {
    const { gate } = await startLiveGate(t, { config: ALIAS });
    const client = await openLive(t, gate);
    client.send(MY_SETUP);
    await client.until(isSetUp);
    reconfigure(gate, changed);
    assert.equal((await client.closed).code, 1012);
    const other = await openLive(t, gate);
    reconfigure(gate, { ...ALIAS });
    other.send(MY_SETUP);
    await other.until(isSetUp);
  });
}

test("a change of other aliases ends no WebSocket, and one within a turn ends it after the turn", async (t) => {
  const { gate, upstream } = await startLiveGate(t, {
    config: ALIAS,
    onMessage: (socket) => sendBinary(socket, { serverContent: { modelTurn: { parts: [] } } }),
  });
  const client = await openLive(t, gate);
  client.send(MY_SETUP);
  await client.until(isSetUp);
  reconfigure(gate, { aliases: { ...ALIAS.aliases, other: "gemini-4-live" } });
  client.send(SAY);
  await client.until(({ serverContent }) => serverContent?.modelTurn !== undefined);
  reconfigure(gate, {});
  const [socket] = upstream.sockets;
  assert.ok(socket);
  upstream.speak(socket);
  await client.until(isTurnComplete);
  assert.equal((await client.closed).code, 1012);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual([record?.alias, record?.outcome], ["gemini-3.8-live", "completed"]);
});

test("an upstream with `models` serves those, and no other", async (t) => {
  const { gate, upstream } = await startLiveGate(t, { upstream: { models: ["gemini-3.8-*"] } });
  const served = await openLive(t, gate);
  served.send(SETUP);
  await served.until(isSetUp);
  const other = await openLive(t, gate);
  other.send({ setup: { model: "models/gemini-2.5-flash" } });
  const { code, reason } = await other.closed;
  assert.equal(code, 1008);
  assert.match(reason, /gemini-2\.5-flash/);
  assert.equal(upstream.messages.length, 1);
});

test("a pause ends the WebSocket at the next message, and a spent budget at the next turn", async (t) => {
  for (const kind of ["pause", "budget"]) {
    let refusal: Refusal | null = null;
    const judge = () => refusal;
    const pauses = { judge: () => (kind === "pause" ? refusal : null), namesTools: false };
    const budgets = {
      counting: null,
      judge: () => (kind === "budget" ? judge() : null),
      hold: () => ({ percent: null, reserved: null, release() {} }),
    };
    const { upstream, client } = await openLiveThroughGate(t, { pauses, budgets, config: BUDGET });
    client.send(SAY);
    await client.until(isTurnComplete);
    refusal = SPENT;
    client.send(SOUND);
    const { code, reason } = await client.closed;
    assert.deepEqual([code, reason], [1008, "tollkeeper: a budget is spent. Type: tollkeeper budget"]);
    assert.equal(upstream.messages.length, 2);
  }
});

test("sound within a turn is no further request: a budget that the turn uses up does not cut it", async (t) => {
  let refusal: Refusal | null = null;
  const budgets = {
    counting: null,
    judge: () => refusal,
    hold: () => ({ percent: null, reserved: null, release() {} }),
  };
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    budgets,
    config: BUDGET,
    onMessage(socket, { clientContent }, books) {
      if (clientContent === undefined) books.speak(socket);
      else sendBinary(socket, { serverContent: { modelTurn: { parts: [] } } });
    },
  });
  client.send(SAY);
  await client.until(({ serverContent }) => serverContent?.modelTurn !== undefined);
  refusal = SPENT;
  client.send(SOUND);
  await client.until(isTurnComplete);
  assert.equal((await gate.ledger.first(1))[0]?.outcome, "completed");
  assert.equal(upstream.messages.length, 3);
});

test("a turn that the service begins although the budget is spent is recorded, and is the last", async (t) => {
  let refusal: Refusal | null = null;
  const budgets = {
    counting: null,
    judge: () => refusal,
    hold: () => ({ percent: null, reserved: null, release() {} }),
  };
  const { gate, upstream, client } = await openLiveThroughGate(t, { budgets, config: BUDGET });
  client.send(SAY);
  await client.until(isTurnComplete);
  const [socket] = upstream.sockets;
  assert.ok(socket);
  upstream.speak(socket);
  await client.until(isTurnComplete);
  refusal = SPENT;
  upstream.speak(socket);
  await client.until(isTurnComplete);
  assert.equal((await client.closed).code, 1008);
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ tokens }) => ({ input: tokens?.input_total, output: tokens?.output })),
    upstream.turns,
  );
});

for (const [name, changed] of Object.entries({
  "a group that no longer allows the model": onlyModels("gemini-2.5-*"),
  "a budget that there was not": BUDGET,
})) {
  test(`a turn that the service begins is judged by what is in force then: ${name}`, async (t) => {
    let isSpent = false;
    const { gate, upstream, client } = await openLiveThroughGate(t, {
      budgets: {
        counting: null,
        judge: () => (isSpent ? SPENT : null),
        hold: () => ({ percent: null, reserved: null, release() {} }),
      },
    });
    client.send(SAY);
    await client.until(isTurnComplete);
    reconfigure(gate, changed);
    isSpent = true;
    const [socket] = upstream.sockets;
    assert.ok(socket);
    upstream.speak(socket);
    assert.equal((await client.closed).code, 1008);
    assert.equal((await gate.ledger.first(2)).length, 2);
  });
}

test("a turn that the service begins while its tool is paused is the last", async (t) => {
  let refusal: Refusal | null = null;
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    pauses: { judge: () => refusal, namesTools: false },
  });
  client.send(SAY);
  await client.until(isTurnComplete);
  refusal = SPENT;
  const [socket] = upstream.sockets;
  assert.ok(socket);
  upstream.speak(socket);
  assert.equal((await client.closed).code, 1008);
  assert.equal((await gate.ledger.first(2)).length, 2);
});

test("a refusal while the model waits for the results of tools ends the WebSocket at once, also after sound", async (t) => {
  let refusal: Refusal | null = null;
  const { upstream, client } = await openLiveThroughGate(t, {
    pauses: { judge: () => refusal, namesTools: false },
    onMessage(socket, { clientContent }) {
      if (clientContent !== undefined) sendBinary(socket, { toolCall: { functionCalls: [] } });
    },
  });
  client.send(SAY);
  await client.until(({ toolCall }) => toolCall !== undefined);
  client.send(SOUND);
  await waitUntil("the sound has arrived", () => upstream.messages.length === 3 || null);
  refusal = SPENT;
  client.send(SOUND);
  assert.equal((await client.closed).code, 1008);
});

test("a model whose calls of tools are cancelled waits for none: a refusal then ends the WebSocket after the turn", async (t) => {
  let refusal: Refusal | null = null;
  const { upstream, client } = await openLiveThroughGate(t, {
    pauses: { judge: () => refusal, namesTools: false },
    onMessage(socket, { clientContent }) {
      if (clientContent === undefined) return;
      sendBinary(socket, { toolCall: { functionCalls: [{ id: "1" }] } });
      sendBinary(socket, { toolCallCancellation: { ids: ["1"] } });
    },
  });
  client.send(SAY);
  await client.until(({ toolCallCancellation }) => toolCallCancellation !== undefined);
  refusal = SPENT;
  client.send(SOUND);
  // The pong says that the message before it was judged.
  const ponged = once(client.socket, "pong");
  client.socket.ping();
  await ponged;
  const [socket] = upstream.sockets;
  assert.ok(socket);
  upstream.speak(socket);
  await client.until(isTurnComplete);
  assert.equal((await client.closed).code, 1008);
});

test("a turn that the service begins after the first turn that was asked for is judged", async (t) => {
  let refusal: Refusal | null = null;
  const budgets = {
    counting: null,
    judge: () => refusal,
    hold: () => ({ percent: null, reserved: null, release() {} }),
  };
  const { gate, upstream, client } = await openLiveThroughGate(t, { budgets, config: BUDGET });
  client.send(SAY);
  await client.until(isTurnComplete);
  refusal = SPENT;
  const [socket] = upstream.sockets;
  assert.ok(socket);
  upstream.speak(socket);
  assert.equal((await client.closed).code, 1008);
  assert.equal((await gate.ledger.first(2)).length, 2);
});

test("what a turn may spend includes the conversation so far", async (t) => {
  const budgets = new RecordingBudgets();
  const { client } = await openLiveThroughGate(t, { budgets, config: BUDGET });
  client.send(SAY);
  await client.until(isTurnComplete);
  client.send(SAY);
  await client.until(isTurnComplete);
  const [setup, first, second] = budgets.asked;
  assert.deepEqual(
    [setup?.model, first?.model, budgets.asked.length],
    ["gemini-3.8-live", "gemini-3.8-live", 3],
  );
  // The first turn read 100 tokens and wrote 20.
  assert.equal((second?.input ?? 0) - 120, (first?.input ?? 0) - (setup?.input ?? 0));
  assert.equal(budgets.held, 0);
});

const SAME_TWICE = rulesForTools({
  groups: { calm: { brake: { same: { times: 2, minutes: 10 } } } },
  tools: { "*": { group: "calm" } },
});

test("a message that repeats an earlier one of its conversation is another request", async (t) => {
  const { gate, client } = await openLiveThroughGate(t, { config: SAME_TWICE });
  for (let turn = 0; turn < 5; turn += 1) {
    client.send(SOUND);
    client.send(SAY);
    await client.until(isTurnComplete);
  }
  assert.equal((await gate.ledger.first(5)).length, 5);
});

test("a conversation that begins as earlier ones did is the same request, unless something in it was other", async (t) => {
  const { gate } = await startLiveGate(t, { config: SAME_TWICE });
  const ask = async (...messages: object[]) => {
    const client = await openLive(t, gate);
    for (const message of [SETUP, ...messages]) client.send(message);
    return Promise.race([client.until(isTurnComplete).then(() => 0), client.closed.then(({ code }) => code)]);
  };
  assert.deepEqual([await ask(SAY), await ask(SAY)], [0, 0]);
  const other = { clientContent: { turns: [], turnComplete: true } };
  assert.deepEqual([await ask(other), await ask(SOUND, SAY), await ask(SOUND, SOUND, SAY)], [0, 0, 0]);
  assert.notEqual(await ask(SAY), 0);
});

const ONE_AT_ONCE = rulesForTools({
  groups: { calm: { brake: { concurrent: 1 } } },
  tools: { "*": { group: "calm" } },
});
const hasOutput = ({ serverContent }: SeenLiveMessage) => serverContent?.modelTurn !== undefined;

test("what is held for a turn that sound may cause does not count against the message that asks for it", async (t) => {
  let held = 0;
  const budgets = {
    counting: null,
    judge: () => (held > 0 ? SPENT : null),
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
  };
  for (const options of [{ config: ONE_AT_ONCE }, { config: BUDGET, budgets }]) {
    const { gate, client } = await openLiveThroughGate(t, options);
    client.send(SOUND);
    client.send(SAY);
    await client.until(isTurnComplete);
    assert.equal((await gate.ledger.only()).outcome, "completed");
  }
  assert.equal(held, 0);
});

test("a turn has the place of the one before it on its WebSocket, and another WebSocket needs one of its own", async (t) => {
  const { gate, upstream, client } = await openLiveThroughGate(t, {
    config: ONE_AT_ONCE,
    onMessage: (socket) => sendBinary(socket, { serverContent: { modelTurn: { parts: [] } } }),
  });
  const other = await openLive(t, gate);
  other.send(SETUP);
  await other.until(isSetUp);
  client.send(SAY);
  await client.until(hasOutput);
  client.send(SAY);
  await client.until(hasOutput);
  other.send(SAY);
  const { code, reason } = await other.closed;
  assert.equal(code, 1008);
  assert.match(reason, /calm/);
  const [socket] = upstream.sockets;
  assert.ok(socket);
  // Without a pause between them: the record of the first may not be written when the second begins.
  upstream.speak(socket);
  upstream.speak(socket);
  upstream.speak(socket);
  for (let turn = 0; turn < 3; turn += 1) await client.until(isTurnComplete);
  client.send(SAY);
  await client.until(hasOutput);
  assert.equal((await gate.ledger.first(4)).filter(({ outcome }) => outcome === "completed").length, 3);
});

test("with several upstreams the one that has Google's API gets the Live API", async (t) => {
  const { gate, upstream } = await startLiveGate(t);
  const other = { ...gate.upstream, name: "other", apis: ["responses" as const], models: ["gpt-*"] };
  gate.gate.use(
    prepareSettings({
      ...defaultConfig,
      upstreams: { other, default: { ...gate.upstream, models: ["gemini-*"] } },
    }),
  );
  const client = await openLive(t, gate);
  client.send(SETUP);
  await client.until(isSetUp);
  assert.deepEqual(upstream.messages, [SETUP]);
  reconfigure(gate, onlyModels("none"));
  client.send(SAY);
  assert.equal((await client.closed).code, 1008);
});
