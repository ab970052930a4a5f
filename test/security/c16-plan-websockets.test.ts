// C16, plan and key on a WebSocket: what a plan pays goes to the plan's own service with the tool's own login, and no key is read for it, not
// for the handshake and not for any message. A handshake with another credential is refused, and nothing leaves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { defaultConfig } from "../../src/core/config/config.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { REST_MS } from "../../src/proxy/upstream/connection.ts";
import { isTerminal, openSocket, refusedSocket, type SeenEvent } from "../helpers/client/websocket.ts";
import {
  CHATGPT_ACCOUNT,
  CHATGPT_HEADERS,
  CHATGPT_PAYER,
  CHATGPT_LOGIN,
  CLAUDE_HEADERS,
  CLAUDE_LOGIN,
  SOCKET_PATH,
  startGateBefore,
  startGateWithPlanSockets,
} from "../helpers/gate/gate-with-plans.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { CREATE } from "../helpers/gate/gate-with-websocket.ts";
import { MemoryTokens, peersOf } from "../helpers/gate/memory.ts";
import { begin, complete, respond, startUpgradeUpstream } from "../helpers/upstream/websocket-upstream.ts";

const PATH = "/t/codex/plan/v1/responses";
const KEY_PATH = "/t/codex/v1/responses";
const LIMIT = { timeout: 300_000 };
const CLIENT = { path: PATH, headers: CHATGPT_HEADERS };

test("a plan's WebSocket goes to its own service with the login and the headers as they came, and no key is read", async (t) => {
  const { gate, service, upstream, asked } = await startGateWithPlanSockets(t, {
    headers: { "x-codex-turn-state": "sticky", "openai-model": "gpt-5.5", "x-unknown": "1" },
  });
  const sent = {
    ...CHATGPT_HEADERS,
    "openai-beta": "responses_websockets=2026-02-06",
    originator: "codex_exec",
    "x-codex-turn-metadata": '{"request_kind":"turn"}',
    "x-openai-fedramp": "true",
    "x-something-new": "2",
    "x-tollkeeper-tool": "codex",
  };
  const client = await openSocket(t, gate, { path: `${PATH}?a=1`, headers: sent });
  client.send(CREATE);
  assert.equal((await client.until(isTerminal)).type, "response.completed");
  const [seen] = service.handshakes;
  assert.equal(seen?.url, `${SOCKET_PATH}?a=1`);
  const { "x-tollkeeper-tool": _mark, ...expected } = sent;
  const {
    "sec-websocket-key": _key,
    "sec-websocket-version": version,
    host,
    connection,
    upgrade,
    ...rest
  } = seen?.headers ?? {};
  assert.deepEqual([host, connection, upgrade, version], ["chatgpt.com", "Upgrade", "websocket", "13"]);
  assert.deepEqual(rest, { ...expected, "sec-websocket-extensions": "permessage-deflate" });
  assert.deepEqual(service.messages, [CREATE]);
  assert.deepEqual(asked(), ["chatgpt.com:443"]);
  assert.deepEqual([upstream.handshakes.length, gate.keys.reads], [0, 0]);
  const [record] = await gate.ledger.first(1);
  assert.deepEqual(
    [record?.upstream, record?.key, record?.tool, record?.route, record?.status, record?.tokens?.output],
    ["plan:chatgpt", CHATGPT_PAYER, "codex", "/responses", 101, 5],
  );
});

const OPENAI_KEY = "sk-proj-0123456789abcdefghij";

/** Handshakes that a plan's path refuses: what is wrong, and the headers. */
const REFUSED: [what: string, headers: Record<string, string>][] = [
  ["no login", {}],
  ["a placeholder", { authorization: "Bearer tollkeeper" }],
  ["a key", { authorization: `Bearer ${OPENAI_KEY}` }],
  ["a key with the account of a plan", { ...CHATGPT_HEADERS, authorization: `Bearer ${OPENAI_KEY}` }],
  ["a key beside the login", { ...CHATGPT_HEADERS, "x-api-key": OPENAI_KEY }],
  ["another key beside the login", { ...CHATGPT_HEADERS, "api-key": OPENAI_KEY }],
  ["a token without its account", { authorization: CHATGPT_HEADERS.authorization }],
  ["the login of Claude", { ...CLAUDE_HEADERS, "chatgpt-account-id": CHATGPT_ACCOUNT }],
  ["basic authentication", { ...CHATGPT_HEADERS, authorization: "Basic dXNlcjpwYXNzd29yZA==" }],
];

test("a handshake with anything but the tool's own login is refused, without 401, and nothing leaves", async (t) => {
  const { gate, service, upstream, asked } = await startGateWithPlanSockets(t);
  for (const [what, headers] of REFUSED) {
    const { status, headers: got, body } = await refusedSocket(gate, { path: PATH, headers });
    assert.deepEqual([got["x-tollkeeper-refusal"], status], ["plan_login", 400], what);
    for (const secret of [CHATGPT_LOGIN, CLAUDE_LOGIN, TEST_KEY, OPENAI_KEY])
      assert.ok(!body.includes(secret), what);
  }
  assert.deepEqual([service.handshakes.length, upstream.handshakes.length], [0, 0]);
  assert.deepEqual([asked(), gate.keys.reads, gate.ledger.records.length], [[], 0, 0]);
});

test("a plan's login that comes to a WebSocket for a key is refused, and no key is read", async (t) => {
  const { gate, service, upstream } = await startGateWithPlanSockets(t);
  for (const headers of [CHATGPT_HEADERS, { authorization: "AgentAssertion c2lnbmVkLWFzc2VydGlvbg==.01" }]) {
    const { status, headers: got, body } = await refusedSocket(gate, { path: KEY_PATH, headers });
    assert.deepEqual([got["x-tollkeeper-refusal"], status], ["plan_login", 400]);
    assert.match(body, /a key would pay.* Type: tollkeeper connect codex --account plan"/);
  }
  assert.deepEqual([service.handshakes.length, upstream.handshakes.length, gate.keys.reads], [0, 0, 0]);
});

test("at the address of a key, a WebSocket gets the key and no login, also where logins are left out", async (t) => {
  const { gate, service, upstream } = await startGateWithPlanSockets(t, { config: { planLogins: "strip" } });
  const client = await openSocket(t, gate, { path: KEY_PATH, headers: CHATGPT_HEADERS });
  client.send(CREATE);
  await client.until(isTerminal);
  const sent = JSON.stringify(upstream.handshakes[0]?.rawHeaders);
  assert.ok(sent.includes(TEST_KEY), sent);
  assert.ok(!sent.includes(CHATGPT_LOGIN) && !sent.includes(CHATGPT_ACCOUNT), sent);
  assert.equal(service.handshakes.length, 0);
});

test("a plan's WebSocket is off until the configuration lists its tool, and only Codex's plan has one", async (t) => {
  const { gate, service } = await startGateWithPlanSockets(t, { config: { plans: ["claude-code"] } });
  const ask = async (path: string, headers: Record<string, string>) => {
    const refused = await refusedSocket(gate, { path, headers });
    return [refused.status, refused.headers["x-tollkeeper-refusal"]];
  };
  assert.deepEqual(await ask(PATH, CHATGPT_HEADERS), [400, "plan_off"]);
  assert.deepEqual(await ask("/t/opencode/plan/v1/responses", CHATGPT_HEADERS), [400, "plan_off"]);
  for (const path of ["/t/claude-code/plan/v1/messages", "/t/claude-code/plan/v1/responses"])
    assert.deepEqual(await ask(path, CLAUDE_HEADERS), [426, "upgrade_not_supported"], path);
  assert.equal(service.handshakes.length, 0);
});

test("no other path of a plan has a WebSocket", async (t) => {
  const { gate, service } = await startGateWithPlanSockets(t);
  for (const path of ["/v1/realtime", "/v1/models", "/v1/responses/compact", "/v1/something/new"]) {
    const { status } = await refusedSocket(gate, { ...CLIENT, path: `/t/codex/plan${path}` });
    assert.equal(status, 426, path);
  }
  assert.equal(service.handshakes.length, 0);
});

test("a web page gets no plan's WebSocket, even if its origin is listed", async (t) => {
  const origin = "https://evil.example";
  const listen = { ...defaultConfig.listen, allowedOrigins: [origin] };
  const { gate, asked } = await startGateWithPlanSockets(t, { config: { listen } });
  for (const page of [{ origin }, { origin: "null" }, { "sec-fetch-site": "same-origin" }]) {
    const { status } = await refusedSocket(gate, { ...CLIENT, headers: { ...CHATGPT_HEADERS, ...page } });
    assert.equal(status, 403, JSON.stringify(page));
  }
  assert.deepEqual(asked(), []);
});

test("a plan's WebSocket is for programs of the daemon's own user, with the tool's own token where one is required", async (t) => {
  const foreign = await startGateWithPlanSockets(t, { peers: peersOf(null) });
  const { status } = await refusedSocket(foreign.gate, CLIENT);
  assert.deepEqual([status, foreign.service.handshakes.length], [400, 0]);

  const tokens = new MemoryTokens();
  const [own, other] = [tokens.add("codex"), tokens.add("opencode")];
  const { gate, service } = await startGateWithPlanSockets(t, {
    tokens,
    config: { access: { mode: "token", peerUid: [] } },
  });
  const withToken = (token: string) => ({
    ...CLIENT,
    headers: { ...CHATGPT_HEADERS, "x-tollkeeper-token": token },
  });
  for (const [client, code] of [
    [CLIENT, "token_required"],
    [withToken(other), "plan_login"],
  ] as const) {
    const refused = await refusedSocket(gate, client);
    assert.deepEqual([refused.status, refused.headers["x-tollkeeper-refusal"]], [400, code]);
  }
  await openSocket(t, gate, withToken(own));
  assert.equal(service.handshakes.length, 1);
  assert.ok(!JSON.stringify(service.handshakes[0]?.rawHeaders).includes(own));
});

test("the service's 401 and 429 pass, without the login that one of them repeats, and are not asked for twice", async (t) => {
  for (const status of [401, 429]) {
    const body = JSON.stringify({ error: { type: "usage_limit_reached", message: `no ${CHATGPT_LOGIN}` } });
    const service = await startUpgradeUpstream(t, (socket) =>
      socket.end(
        `HTTP/1.1 ${status} No\r\nretry-after: 7\r\nx-codex-plan-type: plus\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    const { gate } = await startGateBefore(t, service, service);
    const refused = await refusedSocket(gate, CLIENT);
    const { headers } = refused;
    assert.deepEqual(
      [refused.status, headers["retry-after"], headers["x-codex-plan-type"], headers["x-tollkeeper-refusal"]],
      [status, "7", "plus", undefined],
    );
    assert.match(refused.body, /usage_limit_reached/);
    assert.ok(!refused.body.includes(CHATGPT_LOGIN), refused.body);
    assert.deepEqual([service.handshakes.length, gate.keys.reads], [1, 0]);
  }
});

test("the login is in no record and in no line of the log, wherever the tool or the service repeats it", async (t) => {
  const { gate } = await startGateWithPlanSockets(t, {
    headers: { "x-request-id": CHATGPT_LOGIN },
    onMessage(socket, message) {
      const response = { id: CHATGPT_LOGIN, model: CHATGPT_LOGIN, status: "in_progress" };
      socket.send(JSON.stringify({ type: "response.created", response }));
      complete(socket, message, response);
    },
  });
  const headers = { ...CHATGPT_HEADERS, "user-agent": `codex ${CHATGPT_LOGIN}`, "session-id": CHATGPT_LOGIN };
  const client = await openSocket(t, gate, { path: PATH, headers });
  const ids = { session_id: CHATGPT_LOGIN, thread_id: CHATGPT_LOGIN, turn_id: CHATGPT_LOGIN };
  client.send({ ...CREATE, model: CHATGPT_LOGIN, client_metadata: ids });
  await client.until(isTerminal);
  const written = JSON.stringify([await gate.ledger.first(1), gate.log.lines]);
  for (const secret of [CHATGPT_LOGIN, CHATGPT_ACCOUNT]) assert.ok(!written.includes(secret), written);
});

test("a WebSocket and a request share a connection only if their login is the same", async (t) => {
  const { gate, asked } = await startGateWithPlanSockets(t);
  const other = { ...CHATGPT_HEADERS, authorization: "Bearer eyJanotherhead.eyJanotherbody.othersignature" };
  // The service has no POST, and keeps the connection.
  await (await post(gate, PATH, CREATE, CHATGPT_HEADERS)).text();
  await wait(3 * REST_MS);
  assert.equal(asked().length, 1);
  await openSocket(t, gate, { path: PATH, headers: other });
  assert.equal(asked().length, 2);
  await openSocket(t, gate, CLIENT);
  assert.equal(asked().length, 2);
});

test(
  "a WebSocket closes with 1012 once its plan is off, after the response that runs, and another is refused",
  LIMIT,
  async (t) => {
    let running: (() => void) | null = null;
    const { gate, service } = await startGateWithPlanSockets(t, {
      onMessage(socket, message) {
        const response = begin(socket, message);
        running = () => complete(socket, message, response);
      },
    });
    const [idle, busy] = [await openSocket(t, gate, CLIENT), await openSocket(t, gate, CLIENT)];
    busy.send(CREATE);
    await busy.until(({ type }) => type === "response.created");
    const { config } = gate.gate.settings;
    gate.gate.use(prepareSettings({ ...config, plans: ["claude-code"] }));
    assert.equal((await idle.closed).code, 1012);
    assert.equal(busy.socket.readyState, 1);
    (running as (() => void) | null)?.();
    assert.equal((await busy.until(isTerminal)).type, "response.completed");
    assert.equal((await busy.closed).code, 1012);
    assert.equal((await refusedSocket(gate, CLIENT)).headers["x-tollkeeper-refusal"], "plan_off");
    assert.equal(service.handshakes.length, 2);
  },
);

test("a change of anything else leaves a plan's WebSocket open, and no key is ever read for its messages", async (t) => {
  const { gate, upstream } = await startGateWithPlanSockets(t, {
    onMessage: (socket, message) => respond(socket, message),
  });
  const client = await openSocket(t, gate, CLIENT);
  const ask = async (): Promise<SeenEvent> => {
    client.send(CREATE);
    return client.until(isTerminal);
  };
  const { config } = gate.gate.settings;
  for (const changes of [
    {},
    { aliases: { "gpt-5.5": "another-model" } },
    { upstreams: { default: { ...gate.upstream, websocket: false as const } } },
  ]) {
    gate.gate.use(prepareSettings({ ...config, ...changes }));
    assert.equal((await ask()).type, "response.completed", JSON.stringify(changes));
  }
  assert.deepEqual([upstream.handshakes.length, gate.keys.reads], [0, 0]);
});
