// Where several upstreams with Google's API share the models, the setup of the Live API decides which one a WebSocket goes to: it is accepted
// before there is an upstream.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { defaultConfig, type Upstream } from "../../../src/core/config/config.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";

import { OPCODE } from "../../../src/core/websocket/frame-reader.ts";
import { writeMaskedFrame } from "../../../src/core/websocket/write-frame.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { startGate, TEST_KEY, upstreamAt, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import {
  isSetUp,
  isTurnComplete,
  openLive,
  SAY,
  SETUP,
  type LiveClient,
} from "../../helpers/gate/gate-with-live.ts";
import { listenOnLoopback } from "../../helpers/upstream/loopback-port.ts";
import { LIVE_PATH, startLiveUpstream, type LiveUpstream } from "../../helpers/upstream/live-upstream.ts";

const OTHER_SETUP = { setup: { model: "models/gemini-2.5-live" } };

interface Both {
  gate: TestGate;
  /** Serves `gemini-3*`. */
  first: LiveUpstream;
  /** Serves `gemini-2*`. */
  second: LiveUpstream;
  /** The configuration's upstreams, with changes to the second. */
  upstreams(changes?: Partial<Upstream>): { default: Upstream; second: Upstream };
}

async function startBoth(
  t: TestContext,
  { config, ...options }: GateOptions = {},
  changes: Partial<Upstream> = {},
): Promise<Both> {
  const [first, second] = [await startLiveUpstream(t), await startLiveUpstream(t)];
  const common: Pick<Upstream, "apis" | "websocket"> = { apis: ["gemini"], websocket: "auto" };
  const upstreams = (others: Partial<Upstream> = {}) => ({
    default: { ...upstreamAt(first.baseUrl), ...common, models: ["gemini-3*"] },
    second: {
      ...upstreamAt(second.baseUrl),
      name: "second",
      key: "second",
      ...common,
      models: ["gemini-2*"],
      ...others,
    },
  });
  const configured = upstreams(changes);
  const gate = await startGate(t, first.baseUrl, {
    ...options,
    upstream: configured.default,
    config: { upstreams: configured, ...config },
  });
  gate.keys.set({ name: "second", origin: configured.second.origin }, "key-of-second");
  return { gate, first, second, upstreams };
}

async function speak(client: LiveClient, setup: object): Promise<void> {
  client.send(setup);
  await client.until(isSetUp);
  client.send(SAY);
  await client.until(isTurnComplete);
}

test("each WebSocket goes to the upstream that serves its model, with that one's key, and leaves its records there", async (t) => {
  const { gate, first, second } = await startBoth(t);
  await speak(await openLive(t, gate), OTHER_SETUP);
  await speak(await openLive(t, gate), SETUP);
  assert.deepEqual(
    [first.messages, second.messages],
    [
      [SETUP, SAY],
      [OTHER_SETUP, SAY],
    ],
  );
  const keys = [first, second].map(({ handshakes }) =>
    handshakes.map(({ headers }) => headers["x-goog-api-key"]),
  );
  assert.deepEqual(keys, [[TEST_KEY], ["key-of-second"]]);
  const records = await gate.ledger.first(2);
  assert.deepEqual(
    records.map(({ upstream, model_requested, outcome, tokens }) => [
      upstream,
      model_requested,
      outcome,
      tokens?.input_total,
    ]),
    [
      ["second", "gemini-2.5-live", "completed", 100],
      ["default", "gemini-3.8-live", "completed", 100],
    ],
  );
});

test("an alias decides the upstream, and is put into the setup", async (t) => {
  const { gate, first, second } = await startBoth(t, {
    config: { aliases: { "my-live": "gemini-2.5-live" } },
  });
  await speak(await openLive(t, gate), { setup: { model: "models/my-live" } });
  assert.deepEqual(second.messages, [OTHER_SETUP, SAY]);
  assert.equal(first.handshakes.length, 0);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual([record?.model_requested, record?.alias], ["my-live", "gemini-2.5-live"]);
});

test("what a client sends before there is an upstream reaches it in order, pings also; compression is agreed on with neither", async (t) => {
  const { gate, second } = await startBoth(t);
  const client = await openLive(t, gate, { perMessageDeflate: true });
  const ponged = once(client.socket, "pong");
  client.socket.ping("early");
  client.send(OTHER_SETUP);
  client.send(SAY);
  const [payload] = (await ponged) as [Buffer];
  assert.equal(payload.toString(), "early");
  await client.until(isTurnComplete);
  assert.deepEqual(second.messages, [OTHER_SETUP, SAY]);
  assert.equal(client.socket.extensions, "");
  assert.equal(second.handshakes[0]?.headers["sec-websocket-extensions"], undefined);
});

test("a setup in pieces, byte by byte, is read", async (t) => {
  const { gate, second } = await startBoth(t);
  const socket = connect(gate.port, "127.0.0.1");
  t.after(() => socket.destroy());
  const lines = [
    `GET ${LIVE_PATH} HTTP/1.1`,
    `Host: 127.0.0.1:${gate.port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${Buffer.alloc(16, 1).toString("base64")}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  await once(socket, "data");
  const frame = writeMaskedFrame(
    OPCODE.text,
    Buffer.from(JSON.stringify(OTHER_SETUP)),
    Buffer.from([1, 2, 3, 4]),
  );
  socket.setNoDelay();
  for (const byte of frame) await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
  await waitUntil("the setup has arrived", () => second.messages.length === 1 || null);
  assert.deepEqual(second.messages, [OTHER_SETUP]);
});

for (const [name, message] of Object.entries({
  "a model that neither serves": '{"setup":{"model":"models/claude-live"}}',
  "two models": '{"setup":{"model":"models/gemini-2.5-live","model":"models/gemini-3.8-live"}}',
  "no setup": '{"clientContent":{"turnComplete":true}}',
  "no JSON": "hello",
})) {
  test(`a first message with ${name} is refused with a Close, and its record is of the first upstream`, async (t) => {
    const { gate, first, second } = await startBoth(t);
    const client = await openLive(t, gate);
    client.socket.send(message);
    const { code, reason } = await client.closed;
    assert.equal(code, 1008);
    assert.match(reason, /^tollkeeper: /);
    assert.equal(first.handshakes.length + second.handshakes.length, 0);
    const [record] = await gate.ledger.first(1);
    assert.deepEqual([record?.upstream, record?.outcome], ["default", "rejected"]);
  });
}

test("a refusal of the setup asks no upstream", async (t) => {
  const budgets = {
    counting: null,
    judge: () =>
      ({ code: "budget_spent", problem: "a budget is spent", command: "tollkeeper budget" }) as const,
    hold: () => ({ percent: null, reserved: null, release() {} }),
  };
  const config = rulesForTools({ budgets: [{ usd: 1, per: "day" }] });
  const { gate, first, second } = await startBoth(t, { budgets, config });
  const client = await openLive(t, gate);
  client.send(OTHER_SETUP);
  assert.deepEqual(await client.closed, {
    code: 1008,
    reason: "tollkeeper: a budget is spent. Type: tollkeeper budget",
  });
  assert.equal(first.handshakes.length + second.handshakes.length, 0);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual([record?.upstream, record?.error_type], ["second", "budget_spent"]);
});

function at(origin: string): Partial<Upstream> {
  return { origin, baseUrl: `${origin}/v1beta` };
}

async function withoutWebSocket(t: TestContext): Promise<Partial<Upstream>> {
  const server = createServer((_req, res) => res.writeHead(404).end());
  t.after(() => server.close());
  return at(`http://127.0.0.1:${await listenOnLoopback(server)}`);
}

for (const [name, change, says] of [
  ["has no WebSocket", withoutWebSocket, /opened no WebSocket/],
  ["cannot be reached", () => at("http://127.0.0.1:1"), /opened no WebSocket/],
  [
    "has its WebSocket switched off",
    (): Partial<Upstream> => ({ websocket: false }),
    /there is no WebSocket here/,
  ],
  ["has no key", (): Partial<Upstream> => ({ key: "missing" }), /missing/],
] as const) {
  test(`where the upstream of the model ${name}, the WebSocket ends with a Close that says so, and a record`, async (t) => {
    const { gate, upstreams } = await startBoth(t);
    const changes = await change(t);
    const origin = changes.origin ?? upstreams().second.origin;
    gate.keys.set({ name: "second", origin }, "key-of-second");
    gate.gate.use(prepareSettings({ ...defaultConfig, upstreams: upstreams(changes) }));
    const client = await openLive(t, gate);
    client.send(OTHER_SETUP);
    const { code, reason } = await client.closed;
    assert.equal(code, 1008);
    assert.match(reason, says);
    assert.match(reason, /Type: tollkeeper /);
    const [record] = await gate.ledger.first(1);
    assert.deepEqual([record?.upstream, record?.outcome], ["second", "rejected"]);
    await speak(await openLive(t, gate), SETUP);
  });
}

test("where no upstream has WebSockets, the handshake gets 426, with the command that switches one on", async (t) => {
  const { gate, upstreams } = await startBoth(t);
  const off = { ...upstreams({ websocket: false }) };
  off.default = { ...off.default, websocket: false };
  gate.gate.use(prepareSettings({ ...defaultConfig, upstreams: off }));
  const socket = new WebSocket(`ws://127.0.0.1:${gate.port}${LIVE_PATH}`);
  const [error] = (await once(socket, "error")) as [Error];
  assert.match(error.message, /426/);
});

test("a WebSocket closes with 1012 when its model moves to another upstream, and stays when others change", async (t) => {
  const { gate, upstreams } = await startBoth(t);
  const client = await openLive(t, gate);
  client.send(OTHER_SETUP);
  await client.until(isSetUp);
  const use = (changes: Partial<Upstream>, models: string[]) => {
    const both = upstreams(changes);
    gate.gate.use(
      prepareSettings({ ...defaultConfig, upstreams: { ...both, default: { ...both.default, models } } }),
    );
  };
  use({}, ["gemini-3*", "gemini-4*"]);
  client.send(SAY);
  await client.until(isTurnComplete);
  use({}, ["gemini-*"]);
  assert.equal((await client.closed).code, 1012);
});

test("a configuration that changes before the setup counts for it", async (t) => {
  const { gate, first, upstreams } = await startBoth(t);
  const client = await openLive(t, gate);
  const both = upstreams();
  gate.gate.use(
    prepareSettings({
      ...defaultConfig,
      upstreams: { ...both, default: { ...both.default, models: ["gemini-*"] } },
    }),
  );
  await speak(client, OTHER_SETUP);
  assert.deepEqual(first.messages, [OTHER_SETUP, SAY]);
});

test("a client that leaves before its setup, or sends none, leaves nothing behind", async (t) => {
  const { gate, first, second } = await startBoth(t, {
    config: { limits: { ...defaultConfig.limits, bodyIdleMs: 50 } },
  });
  const leaves = await openLive(t, gate);
  leaves.socket.terminate();
  const closes = await openLive(t, gate);
  closes.socket.close(1000);
  await closes.closed;
  const silent = await openLive(t, gate);
  const { code, reason } = await silent.closed;
  assert.deepEqual([code, reason], [1008, "tollkeeper: no setup has come"]);
  await gate.gate.drain();
  assert.equal(gate.gate.bufferedBytes, 0);
  assert.equal(first.handshakes.length + second.handshakes.length, 0);
});

test("a daemon that stops closes a WebSocket that waits for its setup", async (t) => {
  const { gate } = await startBoth(t);
  const client = await openLive(t, gate);
  const drained = gate.gate.drain();
  assert.deepEqual(await client.closed, { code: 1012, reason: "tollkeeper stops" });
  await drained;
});
