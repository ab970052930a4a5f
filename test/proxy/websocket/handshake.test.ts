// The handshake of a WebSocket: what goes up, what comes back, and how it is refused (docs/websocket.md).
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { createUpstream, defaultConfig } from "../../../src/core/config/config.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { isTerminal, openSocket, refusedSocket } from "../../helpers/client/websocket.ts";
import { sendRaw } from "../../helpers/client/raw-client.ts";
import { CREATE, openThroughGate, startGateWithWebSockets } from "../../helpers/gate/gate-with-websocket.ts";
import { startGate, TEST_KEY, type GateOptions } from "../../helpers/gate/gate.ts";
import { acceptHandshake, startUpgradeUpstream } from "../../helpers/upstream/websocket-upstream.ts";

/** A gate before an upstream whose handshakes the test handles. */
async function openGate(
  t: TestContext,
  onUpgrade: Parameters<typeof startUpgradeUpstream>[1],
  options: GateOptions = {},
) {
  const upstream = await startUpgradeUpstream(t, onUpgrade);
  const gate = await startGate(t, upstream.baseUrl, {
    ...options,
    upstream: { websocket: "auto", ...options.upstream },
  });
  return { upstream, gate };
}

function answerWith(status: string, body = "{}", lines: string[] = []) {
  const head = [
    `HTTP/1.1 ${status}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    ...lines,
  ];
  return (socket: Socket) => socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

test("the handshake goes up with the key in place of the client's, without cookies, and with the offer of compression", async (t) => {
  const { upstream, client } = await openThroughGate(t, {
    client: {
      headers: {
        authorization: "Bearer tk-codex",
        cookie: "a=b",
        "openai-beta": "responses_websockets=2026-02-06",
        "session-id": "s-1",
        "x-codex-turn-metadata": "{}",
      },
    },
  });
  const headers = upstream.handshakes[0]?.headers;
  assert.equal(headers?.authorization, `Bearer ${TEST_KEY}`);
  assert.deepEqual(
    [headers.cookie, headers.origin, headers["sec-websocket-extensions"], headers["sec-websocket-protocol"]],
    [undefined, undefined, "permessage-deflate", undefined],
  );
  assert.deepEqual(
    [
      headers["openai-beta"],
      headers["session-id"],
      headers["x-codex-turn-metadata"],
      headers["sec-websocket-version"],
    ],
    ["responses_websockets=2026-02-06", "s-1", "{}", "13"],
  );
  assert.equal(client.socket.extensions, "permessage-deflate");
});

test("the client's 101 is the upstream's, with its headers and without those that have power in a browser", async (t) => {
  const { gate } = await startGateWithWebSockets(t, {
    headers: {
      "x-codex-turn-state": "sticky",
      "openai-model": "gpt-5.5",
      "x-request-id": "req-7",
      "set-cookie": "a=b",
    },
  });
  const socket = new WebSocket(`ws://127.0.0.1:${gate.port}/v1/responses`);
  t.after(() => socket.terminate());
  const [response] = (await once(socket, "upgrade")) as [{ headers: Record<string, string> }];
  const { headers } = response;
  assert.deepEqual(
    [headers["x-codex-turn-state"], headers["openai-model"], headers["x-request-id"], headers["set-cookie"]],
    ["sticky", "gpt-5.5", "req-7", undefined],
  );
  socket.send(JSON.stringify(CREATE));
  assert.equal((await gate.ledger.only()).upstream_request_id, "req-7");
});

const INVALID: [what: string, lines: string[]][] = [
  ["without a key", ["Sec-WebSocket-Version: 13"]],
  ["with a short key", ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA"]],
  ["of another version", ["Sec-WebSocket-Version: 8", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]],
  [
    "with two keys",
    [
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      "Sec-WebSocket-Key: BAAAAAAAAAAAAAAAAAAAAA==",
    ],
  ],
  [
    "with a subprotocol, which may hold a key",
    [
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.sk-1",
    ],
  ],
  [
    "with an encoding",
    ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Content-Encoding: gzip"],
  ],
];

for (const [what, lines] of INVALID) {
  test(`a handshake ${what} is refused with 400 and goes nowhere`, async (t) => {
    const { upstream, gate } = await openGate(t, acceptHandshake);
    const head = [
      "GET /v1/responses HTTP/1.1",
      `Host: 127.0.0.1:${gate.port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      ...lines,
    ];
    const client = await sendRaw(t, gate.port, `${head.join("\r\n")}\r\n\r\n`);
    assert.match(await client.closed, /^HTTP\/1\.1 400 [^]*\r\nx-tollkeeper-refusal: bad_request\r\n/);
    assert.equal(upstream.handshakes.length, 0);
  });
}

for (const status of ["404 Not Found", "426 Upgrade Required"]) {
  test(`an upstream's ${status} becomes 426, and is remembered until the configuration changes`, async (t) => {
    const { upstream, gate } = await openGate(t, answerWith(status));
    for (let attempt = 0; attempt < 3; attempt += 1) assert.equal((await refusedSocket(gate)).status, 426);
    assert.equal(upstream.handshakes.length, 1);
    gate.gate.use(prepareSettings({ ...defaultConfig, upstreams: { default: gate.upstream } }));
    assert.equal((await refusedSocket(gate)).status, 426);
    assert.equal(upstream.handshakes.length, 2);
    assert.equal(gate.ledger.records.length, 0);
  });
}

for (const status of ["403 Forbidden", "500 Error", "503 Unavailable", "302 Found", "200 OK"]) {
  test(`an upstream's ${status} becomes 426, and is not remembered`, async (t) => {
    const { upstream, gate } = await openGate(t, answerWith(status));
    for (let attempt = 0; attempt < 2; attempt += 1) assert.equal((await refusedSocket(gate)).status, 426);
    assert.equal(upstream.handshakes.length, 2);
  });
}

for (const status of ["400 Bad Request", "401 Unauthorized", "429 Too Many Requests"]) {
  test(`an upstream's ${status} passes with its body and headers, and the key in it does not`, async (t) => {
    const { gate } = await openGate(
      t,
      answerWith(status, `{"error":{"message":"key ${TEST_KEY} is no good"}}`, [
        "Retry-After: 7",
        `X-Echo: ${TEST_KEY}`,
      ]),
    );
    const { status: got, headers, body } = await refusedSocket(gate);
    assert.deepEqual([got, headers["retry-after"]], [Number(status.slice(0, 3)), "7"]);
    assert.match(body, /^\{"error":\{"message":"key \*+ is no good"\}\}$/);
    assert.ok(!JSON.stringify(headers).includes(TEST_KEY));
    assert.equal(gate.ledger.records.length, 0);
  });
}

for (const [what, body] of [
  ["half of its body", '{"error":{"message":"half of'],
  ["all of its body", '{"error":{"message":"whole"}}'],
  ["no body", ""],
]) {
  test(`an upstream's 401 without a length, with ${what}, becomes 426: it may be truncated, and would look complete`, async (t) => {
    const { gate } = await openGate(t, (socket) => {
      socket.end(`HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\n\r\n${body}`);
    });
    const { status, body: got } = await refusedSocket(gate);
    assert.equal(status, 426);
    assert.doesNotMatch(got, /half of|whole/);
  });
}

test("an upstream that cannot be reached becomes 426", async (t) => {
  const { gate } = await openGate(t, acceptHandshake);
  gate.gate.use(
    prepareSettings({
      ...defaultConfig,
      upstreams: { default: { ...createUpstream("default", "http://127.0.0.1:1/v1"), websocket: "auto" } },
    }),
  );
  gate.keys.set({ name: "default", origin: "http://127.0.0.1:1" }, TEST_KEY);
  assert.equal((await refusedSocket(gate)).status, 426);
});

test("a WebSocket whose upstream is switched off while it is asked closes as soon as it is open", async (t) => {
  const { gate } = await openGate(t, (socket, request) => {
    gate.gate.use(
      prepareSettings({ ...defaultConfig, upstreams: { default: { ...gate.upstream, websocket: false } } }),
    );
    acceptHandshake(socket, request);
  });
  const client = await openSocket(t, gate);
  assert.equal((await client.closed).code, 1012);
});

test("an upstream that is silent becomes 426 after five seconds, and is not remembered", async (t) => {
  const { upstream, gate } = await openGate(t, () => {});
  const before = performance.now();
  const both = await Promise.all([refusedSocket(gate), refusedSocket(gate)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [426, 426],
  );
  assert.ok(performance.now() - before < 60_000);
  assert.equal(upstream.handshakes.length, 2);
});

const WRONG: [what: string, lines: string][] = [
  ["that does not belong to the handshake", "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="],
  ["to another protocol", "Upgrade: h2c"],
];
for (const [what, line] of WRONG) {
  test(`an upstream's 101 ${what} becomes 426`, async (t) => {
    const { gate } = await openGate(t, (socket) => {
      const other = line.startsWith("Upgrade") ? "" : "Upgrade: websocket\r\n";
      socket.write(`HTTP/1.1 101 x\r\nConnection: Upgrade\r\n${other}${line}\r\n\r\n`);
    });
    assert.equal((await refusedSocket(gate)).status, 426);
  });
}

for (const [line, isOffered] of [
  ["Sec-WebSocket-Extensions: permessage-deflate", false],
  ["Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=9", true],
  ["Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate", true],
  ["Sec-WebSocket-Extensions: x-other", true],
  ["Sec-WebSocket-Protocol: realtime", true],
] as const) {
  const offer = isOffered ? "only compression was offered" : "nothing was offered";
  test(`an upstream's 101 with ${line} becomes 426: ${offer}`, async (t) => {
    const { gate } = await openGate(t, (socket, request) => acceptHandshake(socket, request, [line]));
    assert.equal((await refusedSocket(gate, { perMessageDeflate: isOffered })).status, 426);
  });
}

test("a client that leaves during the handshake leaves no connection behind", async (t) => {
  const arrived = withResolvers<Socket>();
  const { gate } = await openGate(t, (socket) => arrived.resolve(socket.resume()));
  const socket = new WebSocket(`ws://127.0.0.1:${gate.port}/v1/responses`);
  socket.on("error", () => {});
  const upstreamSocket = await arrived.promise;
  const closed = once(upstreamSocket, "close");
  socket.terminate();
  await closed;
  assert.equal(gate.ledger.records.length, 0);
});

test("where the upstream depends on the model, has a fallback, or the model is replaced, tools go on with POST", async (t) => {
  const { upstream, gate } = await openGate(t, acceptHandshake);
  const other = { ...createUpstream("other", "http://127.0.0.1:1/v1"), websocket: "auto" } as const;
  const own = gate.upstream;
  for (const config of [
    { upstreams: { default: { ...own, models: ["gpt-5.5"] }, other } },
    { upstreams: { default: { ...own, fallback: ["other"] }, other } },
    { upstreams: { default: own }, ...rulesForTools({ aliases: { small: "gpt-5.5-mini" } }) },
    { upstreams: { default: { ...own, websocket: false } as const } },
  ]) {
    gate.gate.use(prepareSettings({ ...defaultConfig, ...config }));
    assert.equal((await refusedSocket(gate)).status, 426);
  }
  assert.equal(upstream.handshakes.length, 0);
});

test("a pause refuses a handshake with 400, which Codex shows", async (t) => {
  const paused = { code: "paused", problem: "the tool is paused", command: "tollkeeper resume" } as const;
  const { upstream, gate } = await openGate(t, acceptHandshake, {
    pauses: { judge: () => paused, namesTools: false },
  });
  const { status, headers } = await refusedSocket(gate);
  assert.deepEqual([status, headers["x-tollkeeper-refusal"]], [400, "paused"]);
  assert.equal(upstream.handshakes.length, 0);
});

test("a missing key refuses a handshake with 400", async (t) => {
  const { gate } = await openGate(t, acceptHandshake);
  gate.keys.values.clear();
  const { status, headers } = await refusedSocket(gate);
  assert.deepEqual([status, headers["x-tollkeeper-refusal"]], [400, "key_missing"]);
});

for (const path of [
  "/v1/responses",
  "/responses",
  "/v1/v1/responses",
  "/t/codex/v1/responses",
  "/v1/responses?x=1",
]) {
  test(`a WebSocket opens on ${path}`, async (t) => {
    const { upstream, gate } = await startGateWithWebSockets(t);
    const client = await openSocket(t, gate, { path });
    client.send(CREATE);
    await client.until(isTerminal);
    assert.equal(upstream.handshakes[0]?.url, `/v1/responses${path.includes("?") ? "?x=1" : ""}`);
    assert.equal((await gate.ledger.only()).tool, path.startsWith("/t/") ? "codex" : "unknown");
  });
}

for (const path of ["/v1/messages", "/v1/chat/completions", "/", "/v1/realtime", "/v1/responses/resp_1"]) {
  test(`no WebSocket opens on ${path}`, async (t) => {
    const { upstream, gate } = await openGate(t, acceptHandshake);
    assert.equal((await refusedSocket(gate, { path })).status, 426);
    assert.equal(upstream.handshakes.length, 0);
  });
}

test("a handshake may follow a request on the same connection", async (t) => {
  const { gate } = await startGateWithWebSockets(t);
  const host = `127.0.0.1:${gate.port}`;
  const client = await sendRaw(t, gate.port, `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await client.until(/\r\n\r\n/);
  client.write(
    `GET /v1/responses HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  assert.match(await client.until(/101[^]*\r\n\r\n/), /s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
});
