import { toolSettings } from "../helpers/config/tool-settings.ts";
// Another upstream is asked only after proof that the one before has done nothing, and the client sees one response.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { beginRequest, rawClient } from "../helpers/client/raw-client.ts";
import { post, withLimits, type GateOptions } from "../helpers/gate/gate.ts";
import {
  keyOf,
  startGateWithUpstreams,
  useConfig,
  type NamedUpstream,
} from "../helpers/gate/gate-with-upstreams.ts";
import { ManualClock } from "../helpers/gate/memory.ts";
import {
  MESSAGE,
  respondWithMessage,
  sendJson,
  type Script,
  type ScriptedUpstream,
} from "../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };

/** The error that an upstream answers with. */
const answer =
  (status: number): Script =>
  (_seen, res) =>
    sendJson(res.setHeader("x-from", "main"), { error: { type: "overloaded_error", message: "no" } }, status);

const reset: Script = (_seen, res) => void res.socket?.resetAndDestroy();

/** A gate whose upstream `main` falls back to `spare`. */
async function start(
  t: TestContext,
  main: Script,
  { spare = {}, options = {} }: { spare?: Partial<NamedUpstream>; options?: GateOptions } = {},
) {
  return startGateWithUpstreams(
    t,
    {
      main: { script: main, settings: { fallback: ["spare"] } },
      spare: { script: respondWithMessage, ...spare },
    },
    options,
  );
}

/** Makes an upstream refuse connections. */
async function close({ server }: Pick<ScriptedUpstream, "server">): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}

/** Returns the records, the first attempt's first. */
async function readAttempts(
  gate: { ledger: { first(count: number): Promise<UsageRecord[]> } },
  count = 2,
): Promise<UsageRecord[]> {
  const records = await gate.ledger.first(count);
  return records.toSorted(
    (one, other) => Number(one.attempt_of !== null) - Number(other.attempt_of !== null),
  );
}

const REQUEST = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };

for (const status of [429, 503, 529]) {
  test(
    `after a ${status} the next upstream is asked, and the client sees its response alone`,
    LIMIT,
    async (t) => {
      const { gate, upstreams } = await start(t, answer(status));
      const response = await post(gate, "/v1/messages", REQUEST);
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), MESSAGE);
      assert.equal(response.headers.get("x-from"), null);
      assert.equal(response.headers.get("x-tollkeeper-attempts"), `main;status=${status}, spare;status=200`);
      assert.deepEqual(JSON.parse(String(upstreams.spare.seen[0]?.body)), REQUEST);
      const [first, second] = await readAttempts(gate);
      assert.ok(first !== undefined && second !== undefined);
      assert.deepEqual(
        [first.upstream, first.status, first.outcome, first.error_type, first.attempt_of, first.bytes_out],
        ["main", status, "error", "overloaded_error", null, 0],
      );
      assert.deepEqual(
        [second.upstream, second.status, second.outcome, second.attempt_of, second.usage],
        ["spare", 200, "completed", first.id, "final"],
      );
      assert.deepEqual([second.model_requested, second.bytes_in], [first.model_requested, first.bytes_in]);
    },
  );
}

test("each upstream gets its own key and no other", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, answer(429));
  await post(gate, "/v1/messages", REQUEST);
  for (const [name, { seen }] of Object.entries(upstreams)) {
    const keys = seen.map(({ rawHeaders }) => rawHeaders.join("\n").match(/sk-\w+-4711-sentinel/g));
    assert.deepEqual(keys, [[keyOf(name)]]);
  }
});

test("an upstream that refuses connections is followed by the next", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, respondWithMessage);
  await close(upstreams.main);
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.deepEqual(await response.json(), MESSAGE);
  const attempts = response.headers.get("x-tollkeeper-attempts");
  assert.equal(attempts, "main;error=upstream_unreachable, spare;status=200");
  const [first, second] = await readAttempts(gate);
  assert.deepEqual(
    [first?.outcome, first?.error_type, first?.status, second?.attempt_of],
    ["rejected", "upstream_unreachable", null, first?.id],
  );
});

for (const [what, script] of Object.entries<Script>({
  "a response": respondWithMessage,
  "a 400": answer(400),
  "a 401": answer(401),
  "a 404": answer(404),
  "a 500": answer(500),
  "a 502": answer(502),
  "a 504": answer(504),
  "a reset": reset,
  "a reset within the head": (_seen, res) => {
    res.socket?.write("HTTP/1.1 429 Too", () => res.socket?.resetAndDestroy());
  },
  "what is not HTTP": (_seen, res) => void res.socket?.end("SSH-2.0-x\r\n"),
})) {
  test(`after ${what} no other upstream is asked: the request may have been executed`, LIMIT, async (t) => {
    const { gate, upstreams } = await start(t, script);
    const response = await post(gate, "/v1/messages", REQUEST).catch(() => null);
    assert.equal(response?.headers.get("x-tollkeeper-attempts") ?? null, null);
    await response?.arrayBuffer();
    const record = await gate.ledger.only();
    assert.deepEqual([record.upstream, record.attempt_of], ["main", null]);
    assert.equal(upstreams.spare.seen.length, 0);
    assert.equal(gate.gate.bufferedBytes, 0);
  });
}

test("without a fallback in the configuration a 429 is passed on", LIMIT, async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    main: { script: answer(429) },
    spare: { script: respondWithMessage },
  });
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.deepEqual([response.status, upstreams.spare.seen.length], [429, 0]);
});

for (const [what, settings, tools] of [
  ["the tool may not use", {}, { spy: { upstreams: ["main"], key: null, group: null, aliases: {} } }],
  ["does not serve the API", { apis: ["responses"] }, {}],
  ["does not serve the model", { models: ["gpt-*"] }, {}],
  ["has no key", { key: "missing" }, {}],
] as const) {
  test(`an upstream that ${what} is not asked`, LIMIT, async (t) => {
    const { gate, upstreams } = await start(t, answer(429), {
      spare: {
        settings: {
          ...settings,
          apis: "apis" in settings ? [...settings.apis] : null,
          models: "models" in settings ? [...settings.models] : null,
        },
      },
    });
    useConfig(gate, {
      tools: Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => [
          name,
          toolSettings({ ...tool, upstreams: [...tool.upstreams] }),
        ]),
      ),
    });
    const response = await post(gate, "/t/spy/v1/messages", REQUEST);
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("x-from"), "main");
    assert.equal(response.headers.get("x-tollkeeper-attempts"), null);
    assert.deepEqual(await response.json(), { error: { type: "overloaded_error", message: "no" } });
    assert.equal(upstreams.spare.seen.length, 0);
    assert.equal(gate.gate.bufferedBytes, 0);
  });
}

test("the next upstream is the one that serves the model", LIMIT, async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    main: { script: answer(503), settings: { fallback: ["gpt", "claude"] } },
    gpt: { script: respondWithMessage, settings: { models: ["gpt-*"] } },
    claude: { script: respondWithMessage, settings: { models: ["claude-*"] } },
  });
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.equal(response.headers.get("x-tollkeeper-attempts"), "main;status=503, claude;status=200");
  assert.deepEqual([upstreams.gpt.seen.length, upstreams.claude.seen.length], [0, 1]);
});

test(
  "where all fail, the client gets the last response, and every attempt leaves a record",
  LIMIT,
  async (t) => {
    const { gate, upstreams } = await startGateWithUpstreams(t, {
      main: { script: answer(429), settings: { fallback: ["second", "third"] } },
      second: { script: answer(529) },
      third: { script: respondWithMessage },
    });
    await close(upstreams.third);
    const response = await post(gate, "/v1/messages", REQUEST);
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "upstream_unreachable");
    const attempts = response.headers.get("x-tollkeeper-attempts");
    assert.equal(attempts, "main;status=429, second;status=529, third;error=upstream_unreachable");
    const [first, ...others] = await readAttempts(gate, 3);
    assert.deepEqual(
      others.map(({ attempt_of: of }) => of),
      [first?.id, first?.id],
    );
    assert.equal(gate.gate.bufferedBytes, 0);
  },
);

const LONG = "x".repeat(700_000);

for (const framing of ["chunked", "of known length"]) {
  test(`a body ${framing} that is still arriving reaches the next upstream whole`, LIMIT, async (t) => {
    const { gate, upstreams } = await start(t, respondWithMessage);
    await close(upstreams.main);
    const body = JSON.stringify({ ...REQUEST, pad: LONG });
    const isChunked = framing === "chunked";
    const send = (text: string) =>
      client.write(isChunked ? `${text.length.toString(16)}\r\n${text}\r\n` : text);
    const client = await rawClient(t, gate.port);
    const line = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
    client.write(beginRequest(gate.port, line));
    send(body.slice(0, 300_000));
    // The first upstream has refused by now.
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    assert.equal(upstreams.spare.seen.length, 0, "the end is missing");
    send(body.slice(300_000));
    if (isChunked) client.write("0\r\n\r\n");
    await client.until(/"stop_reason":"end_turn"[^]*\}$/);
    assert.equal(String(upstreams.spare.seen[0]?.body), body);
    assert.equal(gate.gate.bufferedBytes, 0);
  });
}

test("a body that is refused while it is still arriving reaches no other upstream", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, respondWithMessage, {
    options: withLimits({ bodyBytes: 400_000 }),
  });
  await close(upstreams.main);
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, "Transfer-Encoding: chunked"));
  for (let chunk = 0; chunk < 5; chunk += 1) client.write(`186a0\r\n${"x".repeat(100_000)}\r\n`);
  const response = await client.until(/^HTTP\/1\.1 413 [^]*\}/);
  assert.match(response, /x-tollkeeper-refusal: body_too_large/);
  assert.equal(upstreams.spare.seen.length, 0);
  assert.equal(gate.gate.bufferedBytes, 0);
});

test("a body that is too long to be kept is sent once", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, answer(429), {
    options: withLimits({ bufferBytes: 1_000_000 }),
  });
  const response = await post(gate, "/v1/messages", { ...REQUEST, pad: LONG });
  assert.deepEqual([response.status, upstreams.spare.seen.length], [429, 0]);
  assert.equal(gate.gate.bufferedBytes, 0);
});

test("an alias is sent to the next upstream too", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, answer(429), { spare: { settings: { models: ["short"] } } });
  useConfig(gate, { aliases: { "claude-sonnet-5": "short" } });
  await (await post(gate, "/v1/messages", REQUEST)).json();
  const body = JSON.stringify({ ...REQUEST, model: "short" });
  for (const { seen } of Object.values(upstreams)) {
    assert.equal(String(seen[0]?.body), body);
    assert.equal(seen[0]?.headers["content-length"], String(body.length));
  }
  const records = await readAttempts(gate);
  assert.deepEqual(
    records.map(({ model_requested: model, alias }) => [model, alias]),
    [
      ["claude-sonnet-5", "short"],
      ["claude-sonnet-5", "short"],
    ],
  );
});

test(
  "an error body that never ends delays no client, and its record is written after the grace period",
  LIMIT,
  async (t) => {
    const { gate, upstreams } = await start(t, (_seen, res) => {
      res.writeHead(429, { "content-type": "application/json" });
      res.write(`{"type":"error","error":{"type":"rate_limit_error"`);
    });
    const response = await post(gate, "/v1/messages", REQUEST);
    assert.deepEqual(await response.json(), MESSAGE);
    const [first] = await readAttempts(gate);
    assert.deepEqual([first?.upstream, first?.outcome, first?.status], ["main", "error", 429]);
    assert.equal(upstreams.main.seen.length, 1);
    assert.equal(gate.gate.openExchanges, 0);
  },
);

test("a client that leaves while the next upstream responds is recorded there", LIMIT, async (t) => {
  const arrived = withResolvers<void>();
  const { gate } = await start(t, answer(429), { spare: { script: () => arrived.resolve() } });
  const abort = new AbortController();
  const request = fetch(`${gate.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(REQUEST),
    signal: abort.signal,
  });
  await arrived.promise;
  abort.abort();
  await assert.rejects(request);
  const [first, second] = await readAttempts(gate);
  assert.deepEqual([first?.outcome, second?.outcome, second?.cut_by], ["error", "cut", "client"]);
  assert.equal(gate.gate.bufferedBytes, 0);
});

test("a client that leaves while the next key is read is not served any more", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, answer(429));
  const [first] = gate.gate.settings.destinations;
  assert.equal(first.account, "key");
  await gate.keyring.get(first.key);
  const held = gate.keys.hold();
  const abort = new AbortController();
  const request = fetch(`${gate.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(REQUEST),
    signal: abort.signal,
  });
  await held.started;
  abort.abort();
  await assert.rejects(request);
  const record = await gate.ledger.only();
  held.release();
  await setImmediate();
  assert.deepEqual([record.outcome, record.status, upstreams.spare.seen.length], ["error", 429, 0]);
  assert.equal(gate.gate.bufferedBytes, 0);
});

test("all attempts together wait no longer for a first byte than one", LIMIT, async (t) => {
  const clock = new ManualClock();
  const { gate, upstreams } = await start(
    t,
    (seen, res) => {
      clock.advance(5_000);
      answer(429)(seen, res);
    },
    { options: { clock, ...withLimits({ firstByteMs: 5_000 }) } },
  );
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.deepEqual([response.status, upstreams.spare.seen.length], [429, 0]);
});

test(
  "an upstream that is broken is skipped, is probed after 30 seconds, and works again",
  LIMIT,
  async (t) => {
    const clock = new ManualClock();
    const { gate, upstreams } = await start(t, answer(503), { options: { clock } });
    const request = async () => {
      const response = await post(gate, "/v1/messages", REQUEST);
      await response.arrayBuffer();
      return response.headers.get("x-tollkeeper-attempts");
    };
    for (let attempt = 0; attempt < 3; attempt += 1)
      assert.equal(await request(), "main;status=503, spare;status=200");
    assert.equal(gate.gate.cooldownOf("main"), 30_000);
    assert.equal(await request(), "main;error=circuit_open, spare;status=200");
    assert.equal(upstreams.main.seen.length, 3);
    const rerouted = (await gate.ledger.first(7)).at(-1);
    assert.deepEqual([rerouted?.upstream, rerouted?.attempt_of], ["spare", null]);
    clock.advance(30_000);
    upstreams.main.respondWith(respondWithMessage);
    assert.equal(await request(), null);
    assert.deepEqual([upstreams.main.seen.length, gate.gate.cooldownOf("main")], [4, null]);
  },
);

test("a 429 opens no circuit, because it may be about one model", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, answer(429));
  for (let attempt = 0; attempt < 5; attempt += 1)
    await (await post(gate, "/v1/messages", REQUEST)).arrayBuffer();
  assert.deepEqual([upstreams.main.seen.length, gate.gate.cooldownOf("main")], [5, null]);
});

test("where all circuits are open, the first upstream is asked as without a fallback", LIMIT, async (t) => {
  const { gate, upstreams } = await start(t, answer(503), { spare: { script: answer(529) } });
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const response = await post(gate, "/v1/messages", REQUEST);
    assert.equal(response.status, attempt === 3 ? 503 : 529);
    await response.arrayBuffer();
  }
  assert.deepEqual([upstreams.main.seen.length, upstreams.spare.seen.length], [4, 3]);
});

test("a change of the configuration closes all circuits", LIMIT, async (t) => {
  const { gate } = await start(t, answer(503));
  for (let attempt = 0; attempt < 3; attempt += 1)
    await (await post(gate, "/v1/messages", REQUEST)).arrayBuffer();
  useConfig(gate, {});
  assert.equal(gate.gate.cooldownOf("main"), null);
});
