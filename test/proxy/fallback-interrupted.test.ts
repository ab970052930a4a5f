// What happens to a request while it is handed from one upstream to the next.
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { defaultConfig, type Upstream } from "../../src/core/config/config.ts";
import { holdTime, passTimeUntil } from "../helpers/async/hold-time.ts";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { beginRequest, rawClient } from "../helpers/client/raw-client.ts";
import { post, upstreamAt, withLimits, type GateOptions, type TestGate } from "../helpers/gate/gate.ts";
import { keyOf, startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { hastyClock, ManualClock, MemoryTokens } from "../helpers/gate/memory.ts";
import { measureUsedMemory } from "../helpers/process/used-memory.ts";
import { rawResponse, startRawUpstream, type RawScript } from "../helpers/upstream/raw-upstream.ts";
import {
  MESSAGE,
  respondWithMessage,
  sendJson,
  SSE,
  type Script,
} from "../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };
const REQUEST = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const LONG = "x".repeat(700_000);
const BUSY = `{"error":{"type":"rate_limit_error"}}`;

/** A gate whose upstream `main`, which writes raw bytes, falls back to `spare`. */
async function start(
  t: TestContext,
  main: RawScript,
  {
    at = "end",
    spare = respondWithMessage,
    options = {},
  }: { at?: "head" | "end"; spare?: Script; options?: GateOptions } = {},
) {
  const raw = await startRawUpstream(t, main, { at });
  const { promise: head, resolve } = withResolvers<void>();
  const limits = { judge: () => null, sawResponse: () => resolve(), sawEvent() {} };
  const { gate, upstreams } = await startGateWithUpstreams(
    t,
    { spare: { script: spare } },
    { limits, ...options },
  );
  gate.keys.set({ name: "default", origin: raw.origin }, keyOf("main"));
  const config = gate.gate.settings.config;
  useConfig(gate, {
    upstreams: { main: upstreamAt(raw.baseUrl, { name: "main", fallback: ["spare"] }), ...config.upstreams },
  });
  return {
    gate,
    main: raw,
    spare: upstreams.spare,
    /** Resolves when the gate has the first head of a response, and has done with it what it can do at once. */
    async untilResponse() {
      await head;
      await setImmediate();
    },
  };
}

/** Changes the settings of the second upstream. */
function changeSpare(gate: TestGate, changes: Partial<Upstream>): void {
  const { upstreams } = gate.gate.settings.config;
  const { spare } = upstreams;
  assert.ok(spare !== undefined);
  useConfig(gate, { upstreams: { ...upstreams, spare: { ...spare, ...changes } } });
}

async function listenOn(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Resolves when no request is open, and nothing of one is kept. */
async function untilFreed({ gate }: TestGate): Promise<void> {
  while (gate.openExchanges > 0 || gate.bufferedBytes > 0) await setImmediate();
}

const write =
  (text: string): RawScript =>
  (_request, { socket }) =>
    void socket.write(text, "latin1");

const busy = write(rawResponse(BUSY, "", "429 Too Many Requests"));
const EMPTY = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nx-from: main\r\n\r\n";

test("an empty 429 is passed on whole where no other upstream can be asked", LIMIT, async (t) => {
  const { gate } = await start(t, write(EMPTY));
  changeSpare(gate, { key: "missing" });
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.equal(response.status, 429);
  assert.equal(await response.text(), "");
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.status], ["error", 429]);
});

for (const [what, text] of Object.entries({
  "an empty 429": EMPTY,
  "a 429 with early hints before it": `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${rawResponse(BUSY, "", "429 X")}`,
  "a chunked 429": `HTTP/1.1 429 X\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${BUSY.length.toString(16)}\r\n${BUSY}\r\n0\r\n\r\n`,
  "a compressed 429": rawResponse(gzipSync(BUSY).toString("latin1"), "content-encoding: gzip\r\n", "429 X"),
}))
  test(`the connection on which ${what} arrived whole is used again`, LIMIT, async (t) => {
    const { gate, main } = await start(t, write(text), { options: { clock: hastyClock() } });
    for (let i = 0; i < 3; i += 1) {
      assert.equal((await post(gate, "/v1/messages", REQUEST)).status, 200);
      await gate.ledger.first(2 * (i + 1));
      await untilFreed(gate);
    }
    assert.equal(main.connections.length, 1);
    for (const { upstream, outcome, status } of gate.ledger.records)
      if (upstream === "main") assert.deepEqual([outcome, status], ["error", 429]);
  });

test(
  "a 429 before the end of the body: the rest goes to the next upstream, and the connection is never used again",
  LIMIT,
  async (t) => {
    const { gate, main, spare, untilResponse } = await start(t, busy, { at: "head" });
    const body = JSON.stringify({ ...REQUEST, pad: LONG });
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, `Content-Length: ${body.length}`));
    client.write(body.slice(0, 100_000));
    await untilResponse();
    client.write(body.slice(100_000));
    await client.until(/"stop_reason":"end_turn"[^]*\}$/);
    assert.equal(String(spare.seen[0]?.body), body);
    await main.connections[0]?.closed;
    assert.equal((await post(gate, "/v1/messages", REQUEST)).status, 200);
    assert.equal(main.connections.length, 2);
    assert.equal(main.requests.length, 1);
    assert.equal(gate.gate.bufferedBytes, 0);
  },
);

test(
  "a 429 that breaks off while the body is arriving is recorded, and the next upstream is asked",
  LIMIT,
  async (t) => {
    const { gate, spare, untilResponse } = await start(
      t,
      (_request, { socket }) => {
        socket.write("HTTP/1.1 429 X\r\ncontent-length: 100\r\n\r\n{", () => socket.resetAndDestroy());
      },
      { at: "head" },
    );
    const client = await rawClient(t, gate.port);
    const body = JSON.stringify(REQUEST);
    client.write(beginRequest(gate.port, `Content-Length: ${body.length}`));
    client.write(body.slice(0, 10));
    await untilResponse();
    client.write(body.slice(10));
    await client.until(/"stop_reason":"end_turn"[^]*\}$/);
    assert.equal(String(spare.seen[0]?.body), body);
    const records = await gate.ledger.first(2);
    const ends = records.map(({ upstream, status, outcome }) => `${upstream} ${status} ${outcome}`);
    assert.deepEqual(new Set(ends), new Set(["main 429 error", "spare 200 completed"]));
  },
);

test("the limit between two bytes of a response is not that of the client's body", LIMIT, async (t) => {
  const { gate, untilResponse } = await start(t, busy, {
    at: "head",
    options: withLimits({ betweenBytesMs: 1_000, bodyIdleMs: 60_000 }),
  });
  const pass = holdTime(t);
  const client = await rawClient(t, gate.port);
  const body = JSON.stringify(REQUEST);
  client.write(beginRequest(gate.port, `Content-Length: ${body.length}`));
  client.write(body.slice(0, 10));
  await untilResponse();
  pass(2_000);
  await setImmediate();
  client.write(body.slice(10));
  await client.until(/"stop_reason":"end_turn"[^]*\}$/);
});

test("a daemon that stops records the response that was there", LIMIT, async (t) => {
  const { gate, spare, untilResponse } = await start(t, busy, { at: "head" });
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, `Content-Length: 100`));
  client.write("{");
  await untilResponse();
  gate.gate.close();
  await client.closed;
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.status, record.cut_by], ["error", 429, null]);
  assert.equal(spare.seen.length, 0);
  assert.equal(gate.gate.bufferedBytes, 0);
  assert.equal(gate.gate.openExchanges, 0);
});

test("an attempt that cannot begin ends the request with an internal error", LIMIT, async (t) => {
  const { gate } = await start(t, busy);
  changeSpare(gate, { basePath: "/v 1" });
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "internal");
  await response.text();
  const records = await gate.ledger.first(2);
  const ends = records.map(({ upstream, outcome, error_type: error }) => `${upstream} ${outcome} ${error}`);
  assert.deepEqual(new Set(ends), new Set(["main error rate_limit_error", "spare rejected internal"]));
  assert.deepEqual([gate.gate.openExchanges, gate.gate.bufferedBytes], [0, 0]);
});

test("a body that the model guard refuses reaches no other upstream", LIMIT, async (t) => {
  const { gate, spare, untilResponse } = await start(t, busy, { at: "head" });
  changeSpare(gate, { models: ["claude-*"] });
  const client = await rawClient(t, gate.port);
  const body = JSON.stringify(REQUEST);
  const twice = `${body.slice(0, -1)},"model":"another"}`;
  client.write(beginRequest(gate.port, `Content-Length: ${twice.length}`) + twice.slice(0, body.length - 1));
  await untilResponse();
  client.write(twice.slice(body.length - 1));
  await client.until(/^HTTP\/1\.1 400 [^]*\}/);
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.status, spare.seen.length], ["rejected", 400, 0]);
  assert.equal(gate.gate.bufferedBytes, 0);
});

test("a client that leaves within its body leaves one record, and no copy of the body", LIMIT, async (t) => {
  const { gate, spare, untilResponse } = await start(t, busy, { at: "head" });
  const client = await rawClient(t, gate.port);
  client.write(`${beginRequest(gate.port, `Content-Length: ${LONG.length}`)}${LONG.slice(1000)}`);
  await untilResponse();
  client.socket.resetAndDestroy();
  const record = await gate.ledger.only();
  assert.deepEqual([record.outcome, record.status, spare.seen.length], ["error", 429, 0]);
  await untilFreed(gate);
});

test(
  "a client that is silent within its body is refused, and no other upstream is asked",
  LIMIT,
  async (t) => {
    const options = withLimits({ betweenBytesMs: 1_000, bodyIdleMs: 5_000 });
    const { gate, spare, untilResponse } = await start(t, busy, { at: "head", options });
    const pass = holdTime(t);
    const client = await rawClient(t, gate.port);
    client.write(`${beginRequest(gate.port, "Content-Length: 100")}{`);
    await untilResponse();
    pass(5_000);
    await client.until(/^HTTP\/1\.1 408 [^]*\}/);
    const record = await gate.ledger.only();
    assert.deepEqual([record.error_type, record.status, spare.seen.length], ["body_timeout", 408, 0]);
    assert.equal(gate.gate.bufferedBytes, 0);
  },
);

test(
  "a change of the configuration leaves the attempts of a request where they were to go",
  LIMIT,
  async (t) => {
    const { gate, spare, untilResponse } = await start(t, busy, { at: "head" });
    const body = JSON.stringify(REQUEST);
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, `Content-Length: ${body.length}`) + body.slice(0, 10));
    await untilResponse();
    changeSpare(gate, { basePath: "/elsewhere" });
    client.write(body.slice(10));
    await client.until(/"stop_reason":"end_turn"[^]*\}$/);
    assert.deepEqual(
      spare.seen.map(({ url }) => url),
      ["/v1/messages"],
    );
  },
);

for (const [what, head] of Object.entries({
  "that waits for 100 Continue": "Expect: 100-continue\r\nContent-Length: ",
  "of HTTP chunks": "",
}))
  test(`a body ${what} reaches the next upstream`, LIMIT, async (t) => {
    const { gate, spare } = await start(t, busy);
    const body = JSON.stringify(REQUEST);
    const client = await rawClient(t, gate.port);
    if (head === "") {
      client.write(beginRequest(gate.port, "Transfer-Encoding: chunked"));
      client.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    } else {
      client.write(beginRequest(gate.port, head + body.length));
      await client.until(/^HTTP\/1\.1 100 /);
      client.write(body);
    }
    await client.until(/"stop_reason":"end_turn"[^]*\}$/);
    assert.equal(String(spare.seen[0]?.body), body);
  });

test("an empty body reaches the next upstream", LIMIT, async (t) => {
  const { gate, spare } = await start(t, busy);
  const client = await rawClient(t, gate.port);
  client.write(beginRequest(gate.port, "Content-Length: 0"));
  await client.until(/"stop_reason":"end_turn"[^]*\}$/);
  assert.deepEqual([spare.seen[0]?.body.length, spare.seen[0]?.headers["content-length"]], [0, "0"]);
});

test("no upstream can set the header with the attempts", LIMIT, async (t) => {
  const forged = "x-tollkeeper-attempts: x;status=200\r\nX-Tollkeeper-Refusal: y\r\n";
  const { gate } = await start(t, write(rawResponse(BUSY, forged, "429 X")), {
    spare: (_seen, res) => sendJson(res.setHeader("x-tollkeeper-attempts", "z"), MESSAGE),
  });
  const response = await post(gate, "/v1/messages", REQUEST);
  assert.equal(response.headers.get("x-tollkeeper-attempts"), "main;status=429, spare;status=200");
  assert.equal(response.headers.get("x-tollkeeper-refusal"), null);
});

test("no upstream gets a key of another, and one that echoes its own is redacted", LIMIT, async (t) => {
  const [first, second] = [keyOf("main"), "sk-spare-another-4711"];
  const echoing = rawResponse(`{"error":{"type":"${first}"}}`, `request-id: ${first}\r\n`, "429 X");
  const { gate, main, spare } = await start(t, write(echoing), {
    spare: ({ headers }, res) => {
      const echo = JSON.stringify(headers);
      sendJson(res.setHeader("request-id", echo), { error: { type: echo, message: echo } }, 400);
    },
  });
  gate.keys.set({ name: "default", origin: spare.origin }, second);
  const response = await post(gate, "/v1/messages", REQUEST, { "x-api-key": "placeholder" });
  const text = await response.text();
  const seen = `${JSON.stringify([...response.headers])}${text}`;
  await gate.ledger.first(2);
  for (const key of [first, second]) {
    assert.ok(!seen.includes(key));
    assert.ok(!JSON.stringify(gate.ledger.records).includes(key));
    assert.ok(!JSON.stringify(gate.log).includes(key));
  }
  assert.ok(text.includes("x-api-key"), "the echo arrived");
  assert.ok(main.connections[0]?.received.includes(first));
  assert.ok(!main.connections[0]?.received.includes(second));
  const received = JSON.stringify(spare.seen[0]?.rawHeaders);
  assert.ok(received.includes(second) && !received.includes(first));
});

test("a request without a valid token is not the probe of a circuit", LIMIT, async (t) => {
  const [clock, tokens] = [new ManualClock(), new MemoryTokens()];
  const token = tokens.add("spy");
  const config = { access: { ...defaultConfig.access, mode: "token" as const } };
  const unavailable = write(rawResponse("{}", "", "503 X"));
  const { gate } = await start(t, unavailable, { options: { clock, tokens, config } });
  const request = async (key: string) => {
    const response = await post(gate, "/v1/messages", REQUEST, { "x-api-key": key });
    await response.text();
    return response.headers.get("x-tollkeeper-refusal");
  };
  for (let attempt = 0; attempt < 3; attempt += 1) assert.equal(await request(token), null);
  clock.advance(30_000);
  assert.equal(await request("tk-spy-wrong"), "token_required");
  assert.equal(gate.gate.cooldownOf("main"), 0, "the next request is the probe");
});

test("the body is freed when a response begins, however long that lasts", LIMIT, async (t) => {
  const { gate } = await start(t, busy);
  // Those of the helpers keep what they receive.
  const refusing = createServer((_req, res) => res.writeHead(429, { "content-length": 0 }).end());
  const endless = createServer(
    (req, res) => void req.resume().on("end", () => res.writeHead(200, SSE).write(": \n\n")),
  );
  const [main, spare] = [await listenOn(t, refusing), await listenOn(t, endless)];
  for (const origin of [main, spare]) gate.keys.set({ name: "default", origin }, "sk-of-any-upstream");
  useConfig(gate, {
    upstreams: {
      main: upstreamAt(`${main}/v1`, { name: "main", fallback: ["spare"] }),
      spare: upstreamAt(`${spare}/v1`, { name: "spare" }),
    },
  });
  const body = "x".repeat(4_000_000);
  const open = async () => {
    const client = await rawClient(t, gate.port);
    client.write(beginRequest(gate.port, `Content-Length: ${body.length}`) + body);
    await client.until(/^HTTP\/1\.1 200 /);
  };
  await open();
  const before = measureUsedMemory();
  for (let client = 0; client < 8; client += 1) await open();
  while (gate.gate.bufferedBytes > 0) await setImmediate();
  const used = measureUsedMemory() - before;
  assert.ok(used < 2 * body.length, `${used} bytes are in use`);
});

test("an upstream that sends no response three times is skipped", LIMIT, async (t) => {
  const { gate, main } = await start(t, () => {}, { options: withLimits({ firstByteMs: 300 }) });
  const pass = holdTime(t);
  for (let sent = 1; sent <= 3; sent += 1) {
    const response = post(gate, "/v1/messages", REQUEST);
    while (main.requests.length < sent) await setImmediate();
    await passTimeUntil(response, () => pass(300));
    assert.equal((await response).status, 504);
    await (await response).text();
  }
  assert.equal((await post(gate, "/v1/messages", REQUEST)).status, 200);
  assert.equal(main.requests.length, 3);
});

for (const [what, script] of Object.entries<RawScript>({
  "sends no valid head": write("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n"),
  "switches protocols": write(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
  ),
  "contradicts itself": write("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
}))
  test(`an upstream that ${what} three times is skipped`, LIMIT, async (t) => {
    const { gate, main } = await start(t, script);
    for (let i = 0; i < 3; i += 1) {
      const response = await post(gate, "/v1/messages", REQUEST);
      assert.ok(response.status >= 500, String(response.status));
      await response.text();
    }
    assert.equal((await post(gate, "/v1/messages", REQUEST)).status, 200);
    assert.equal(main.requests.length, 3);
  });
