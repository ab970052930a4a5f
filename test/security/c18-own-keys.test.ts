// C18, a tool's own key: where an upstream passes it, it goes there as it came and nowhere else, and no key of ours is read or put beside it.
// What is no key of the tool's own is refused, and nothing leaves.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Upstream } from "../../src/core/config/config.ts";
import { REST_MS } from "../../src/proxy/upstream/connection.ts";
import { isTerminal, openSocket, refusedSocket } from "../helpers/client/websocket.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import {
  CHATGPT_HEADERS,
  CHATGPT_LOGIN,
  CLAUDE_HEADERS,
  CLAUDE_LOGIN,
} from "../helpers/gate/gate-with-plans.ts";
import { CREATE, startGateWithWebSockets } from "../helpers/gate/gate-with-websocket.ts";
import { post, startGate, TEST_KEY, upstreamAt, waitUntilHandled } from "../helpers/gate/gate.ts";
import { MemoryTokens } from "../helpers/gate/memory.ts";
import {
  respondWithMessage,
  sendJson,
  startUpstream,
  type Script,
} from "../helpers/upstream/scripted-upstream.ts";

/** Keys of no known form: nothing but their place tells that they are keys. */
const OWN_KEY = "own.sentinel.4711.do.not.leak";
const OTHER_KEY = "other.sentinel.0815.do.not.leak";
const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };
const PASSES = { credential: "client", keySource: { kind: "none" } } as const;
const SOCKETS = { ...PASSES, websocket: "auto" } as const;

/** Repeats the key that it gets. */
const repeatKey: Script = ({ headers }, res) => {
  const key = String(headers["x-api-key"]);
  if (headers["x-want"] === "redirect")
    res.writeHead(307, { location: `http://127.0.0.1:1/?k=${key}` }).end();
  else sendJson(res, { error: { message: `invalid ${key}` } }, 401);
};

/** Lists one model. */
const listOne: Script = (_seen, res) => sendJson(res, { data: [{ id: "gpt-5" }] });

const fail: Script = (_seen, res) => sendJson(res, {}, 529);

async function start(t: TestContext, script: Script = respondWithMessage, changes: Partial<Upstream> = {}) {
  const upstream = await startUpstream(t, script);
  return { upstream, gate: await startGate(t, upstream.baseUrl, { upstream: { ...PASSES, ...changes } }) };
}

/** Starts two upstreams, in this order, and a gate in front of them. */
async function startTwo(
  t: TestContext,
  first: Partial<Upstream>,
  second: Partial<Upstream>,
  sections: Parameters<typeof rulesForTools>[0] = {},
  script: Script = respondWithMessage,
) {
  const upstreams = [await startUpstream(t, script), await startUpstream(t, script)] as const;
  const [one, other] = upstreams;
  const gate = await startGate(t, one.baseUrl, {
    config: {
      ...rulesForTools(sections),
      upstreams: {
        one: upstreamAt(one.baseUrl, { name: "one", ...first }),
        other: upstreamAt(other.baseUrl, { name: "other", ...second }),
      },
    },
  });
  for (const { origin } of upstreams) gate.keys.set({ name: "default", origin }, TEST_KEY);
  return { one, other, gate };
}

/** How a request carries the key for each API: the path, the header and its value. */
const CARRIED: readonly (readonly [path: string, name: string, value: string])[] = [
  ["/v1/messages", "x-api-key", OWN_KEY],
  ["/v1/messages", "authorization", `Bearer ${OWN_KEY}`],
  ["/v1/messages", "api-key", OWN_KEY],
  ["/v1/responses", "authorization", `Bearer ${OWN_KEY}`],
  ["/v1/chat/completions", "authorization", `bearer  ${OWN_KEY}`],
  ["/v1/chat/completions", "api-key", OWN_KEY],
  ["/v1beta/models/gemini-3-pro:generateContent", "x-goog-api-key", OWN_KEY],
  [
    "/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict",
    "authorization",
    `Bearer ${OWN_KEY}`,
  ],
  ["/model/anthropic.claude/converse", "authorization", `Bearer ${OWN_KEY}`],
];

test("a tool's own key goes to its upstream in the header in which it came, and no key is read", async (t) => {
  const { gate, upstream } = await start(t, (_seen, res) => sendJson(res, {}), {
    apis: ["messages", "responses", "chat", "gemini", "bedrock"],
  });
  const carriers = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];
  for (const [path, name, value] of CARRIED) {
    const response = await post(gate, path, BODY, {
      [name]: value,
      "x-tollkeeper-tool": "zed",
      cookie: "a=b",
    });
    assert.equal(response.status, 200, path);
    const { headers = {} } = upstream.seen.at(-1) ?? {};
    const sent = carriers.flatMap((one) => (headers[one] === undefined ? [] : [[one, headers[one]]]));
    assert.deepEqual(sent, [[name, value]], path);
    for (const other of ["cookie", "x-tollkeeper-tool", "connection-x"])
      assert.ok(!(other in headers), other);
  }
  await waitUntilHandled(gate);
  assert.equal(gate.keys.reads, 0);
  assert.ok(!JSON.stringify(upstream.seen).includes(TEST_KEY));
  const named = new Set(gate.ledger.records.map(({ upstream: name, key }) => `${name} ${key}`));
  assert.equal(named.size, 1);
  assert.match([...named].join(), /^own:default own:default\/[0-9a-f]{8}$/);
});

/** As ChatGPT's: its issuer is in the token. */
const TOKEN_OF_CHATGPT = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"iss":"https://auth.openai.com"}').toString("base64url")}.c2lnbmF0dXJl`;
const TOKEN_OF_OTHERS = `eyJhbGciOiJSUzI1NiJ9.${Buffer.from('{"iss":"https://login.example.com"}').toString("base64url")}.c2lnbmF0dXJl`;
const LOCAL_TOKEN = `tollkeeper-zed-${"a1".repeat(21)}b`;

/** What is no key of a tool's own: what it is, and the headers. */
const REFUSED: readonly (readonly [what: string, headers: Record<string, string>])[] = [
  ["nothing", {}],
  ["a placeholder", { "x-api-key": "tk-zed" }],
  ["another placeholder", { authorization: "Bearer tollkeeper" }],
  ["a word that is too short to be kept out of records", { authorization: "Bearer ollama" }],
  ["a local token", { authorization: `Bearer ${LOCAL_TOKEN}` }],
  ["a local token as a key", { "x-api-key": LOCAL_TOKEN }],
  ["the login of Claude", CLAUDE_HEADERS],
  ["the login of Claude as a key", { "x-api-key": CLAUDE_LOGIN }],
  ["what renews the login of Claude", { authorization: "Bearer sk-ant-ort01-sentinel-of-claude-4711" }],
  ["the login of ChatGPT", CHATGPT_HEADERS],
  ["the token of ChatGPT without its account", { authorization: `Bearer ${TOKEN_OF_CHATGPT}` }],
  ["the account of ChatGPT beside a key", { "x-api-key": OWN_KEY, "chatgpt-account-id": "acct" }],
  ["an agent's signature", { authorization: "AgentAssertion c2lnbmVkLWFzc2VydGlvbg==.01" }],
  ["basic authentication", { authorization: "Basic dXNlcjpwYXNzd29yZA==" }],
  ["two words", { authorization: `Bearer ${OWN_KEY} x` }],
  ["two keys", { authorization: `Bearer ${OWN_KEY}`, "x-api-key": OTHER_KEY }],
  ["a key beside a placeholder", { authorization: "Bearer tk-zed", "x-api-key": OWN_KEY }],
  ["a header of another API", { "x-goog-api-key": OWN_KEY }],
];

test("anything but a key of the tool's own is refused, without 401, and nothing leaves", async (t) => {
  const { gate, upstream } = await start(t);
  for (const [what, headers] of REFUSED) {
    const response = await post(gate, "/v1/messages", BODY, headers);
    const code = response.headers.get("x-tollkeeper-refusal");
    assert.deepEqual([code, response.status], ["client_key", 402], what);
    const text = await response.text();
    assert.match(
      text,
      /takes only a key that the tool sends.*config unset upstreams\.default\.credential/,
      what,
    );
    for (const secret of [OWN_KEY, OTHER_KEY, CLAUDE_LOGIN, CHATGPT_LOGIN, LOCAL_TOKEN, TEST_KEY])
      assert.ok(!text.includes(secret), what);
  }
  assert.equal((await post(gate, "/v1/responses", BODY)).status, 400);
  assert.deepEqual([upstream.seen.length, gate.keys.reads], [0, 0]);
});

test("the same key in two headers passes as it came, and so does a token of another service", async (t) => {
  const { gate, upstream } = await start(t);
  const twice = { authorization: `Bearer ${OWN_KEY}`, "x-api-key": OWN_KEY };
  assert.equal((await post(gate, "/v1/messages", BODY, twice)).status, 200);
  assert.deepEqual(
    [upstream.seen[0]?.headers.authorization, upstream.seen[0]?.headers["x-api-key"]],
    [twice.authorization, OWN_KEY],
  );
  const headers = { authorization: `Bearer ${TOKEN_OF_OTHERS}` };
  assert.equal((await post(gate, "/v1/messages", BODY, headers)).status, 200);
});

test("a login of a plan is refused also where the configuration leaves out those at keys", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const gate = await startGate(t, upstream.baseUrl, { upstream: PASSES, config: { planLogins: "strip" } });
  const response = await post(gate, "/v1/messages", BODY, CLAUDE_HEADERS);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "client_key");
  assert.equal(upstream.seen.length, 0);
});

test("an upstream with a stored key gets that, and never what the tool sends", async (t) => {
  const { gate, one, other } = await startTwo(t, { ...PASSES, models: ["claude-*"] }, {});
  const headers = { "x-api-key": OWN_KEY };
  for (const model of ["claude-sonnet-5", "gpt-5"])
    await post(gate, "/v1/messages", { ...BODY, model }, headers);
  const [atOne, atOther] = [one, other].map(({ seen }) =>
    JSON.stringify(seen.map((each) => each.rawHeaders)),
  );
  assert.deepEqual([one.seen.length, other.seen.length], [1, 1]);
  assert.ok(atOne?.includes(OWN_KEY) === true && !atOne.includes(TEST_KEY), atOne);
  assert.ok(atOther?.includes(TEST_KEY) === true && !atOther.includes(OWN_KEY), atOther);
  assert.deepEqual(
    gate.ledger.records.map(({ upstream, key }) => [upstream, key.replace(/\/.*/, "/…")]),
    [
      ["own:one", "own:one/…"],
      ["other", "default"],
    ],
  );
});

test("where the model alone says which of two services gets the key, it goes to neither until the tool has one", async (t) => {
  const sections = { tools: { zed: { upstreams: ["other"] } } };
  const { gate, one, other } = await startTwo(
    t,
    { ...PASSES, models: ["claude-*"] },
    { ...PASSES, models: ["gpt-*"] },
    sections,
  );
  const headers = { authorization: `Bearer ${OWN_KEY}` };
  for (const model of ["claude-sonnet-5", "gpt-5"]) {
    const response = await post(gate, "/t/aider/v1/chat/completions", { ...BODY, model }, headers);
    assert.deepEqual([response.status, response.headers.get("x-tollkeeper-refusal")], [400, "client_key"]);
    assert.match(await response.text(), /not clear.*config set tools\.aider\.upstreams/);
  }
  assert.deepEqual([one.seen.length, other.seen.length], [0, 0]);
  const response = await post(gate, "/t/zed/v1/chat/completions", { ...BODY, model: "gpt-5" }, headers);
  assert.deepEqual([response.status, one.seen.length, other.seen.length], [200, 0, 1]);
});

test("where each of two services has an API of its own, the route says which one gets the key", async (t) => {
  const { gate, one, other } = await startTwo(
    t,
    { ...PASSES, apis: ["messages"] },
    { ...PASSES, apis: ["chat"] },
  );
  const headers = { authorization: `Bearer ${OWN_KEY}` };
  assert.equal((await post(gate, "/v1/messages", BODY, headers)).status, 200);
  assert.equal((await post(gate, "/v1/chat/completions", BODY, headers)).status, 200);
  assert.deepEqual([one.seen.length, other.seen.length], [1, 1]);
});

test("no fallback goes to an upstream that passes keys, nor away from one", async (t) => {
  const headers = { "x-api-key": OWN_KEY };
  const away = await startTwo(t, { ...PASSES, fallback: ["other"] }, {}, {}, fail);
  assert.equal((await post(away.gate, "/v1/messages", BODY, headers)).status, 529);
  assert.deepEqual([away.one.seen.length, away.other.seen.length], [1, 0]);
  const there = await startTwo(t, { fallback: ["other"] }, PASSES, {}, fail);
  assert.equal((await post(there.gate, "/v1/messages", BODY, headers)).status, 529);
  assert.deepEqual([there.one.seen.length, there.other.seen.length], [1, 0]);
});

test("no alias changes what passes, moves it elsewhere or brings a request there", async (t) => {
  const aliases = { "claude-sonnet-5": "gpt-5", "gpt-5-mini": "claude-opus-5" };
  const { gate, one, other } = await startTwo(t, { ...PASSES, models: ["claude-*"] }, {}, { aliases });
  const headers = { "x-api-key": OWN_KEY };
  await post(gate, "/v1/messages", BODY, headers);
  assert.equal(one.seen[0]?.body.toString(), JSON.stringify(BODY));
  await post(gate, "/v1/messages", { ...BODY, model: "gpt-5-mini" }, headers);
  assert.deepEqual([one.seen.length, other.seen.length], [1, 1]);
  const moved = { ...BODY, model: "claude-opus-5" };
  assert.equal(other.seen[0]?.body.toString(), JSON.stringify(moved));
  assert.ok(!JSON.stringify(other.seen[0]?.rawHeaders).includes(OWN_KEY));
});

test("with one upstream, what passes is not read for an alias", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const config = rulesForTools({ aliases: { "claude-sonnet-5": "gpt-5" } });
  const gate = await startGate(t, upstream.baseUrl, { upstream: PASSES, config });
  assert.equal((await post(gate, "/v1/messages", BODY, { "x-api-key": OWN_KEY })).status, 200);
  assert.equal(upstream.seen[0]?.body.toString(), JSON.stringify(BODY));
  assert.equal(gate.ledger.records[0]?.alias, null);
});

test("a redirect and a 401 pass as they are, but for the key that they repeat, and nothing is sent again", async (t) => {
  const { gate, upstream } = await start(t, repeatKey);
  const headers = { "content-type": "application/json", "x-api-key": OWN_KEY };
  const init = { method: "POST", body: JSON.stringify(BODY), redirect: "manual" } as const;
  const moved = await fetch(`${gate.url}/v1/messages`, {
    ...init,
    headers: { ...headers, "x-want": "redirect" },
  });
  assert.equal(moved.status, 307);
  assert.ok(!moved.headers.get("location")?.includes(OWN_KEY));
  const rejected = await fetch(`${gate.url}/v1/messages`, { ...init, headers });
  assert.equal(rejected.status, 401);
  assert.ok(!(await rejected.text()).includes(OWN_KEY));
  assert.deepEqual([upstream.seen.length, gate.keys.reads], [2, 0]);
});

test("the key is in no record and in no line of the log, wherever the tool repeats it", async (t) => {
  const { gate } = await start(t, (_seen, res) =>
    sendJson(res, {
      id: `msg_${OWN_KEY}`,
      type: "message",
      model: OWN_KEY,
      stop_reason: OWN_KEY,
      content: [],
      usage: { input_tokens: 3, output_tokens: 2 },
    }),
  );
  const headers = {
    "x-api-key": OWN_KEY,
    "user-agent": `tool/2 ${OWN_KEY}`,
    "x-tollkeeper-tool": OWN_KEY,
    "x-claude-code-session-id": OWN_KEY,
    "x-claude-code-agent-id": OWN_KEY,
  };
  await (await post(gate, "/v1/messages", { ...BODY, model: OWN_KEY }, headers)).text();
  await (await post(gate, `/v1/${OWN_KEY}`, BODY, headers)).text();
  await (await post(gate, "/v1/messages", BODY, { ...headers, authorization: `Bearer ${OTHER_KEY}` })).text();
  await waitUntilHandled(gate);
  const written = JSON.stringify([gate.ledger.records, gate.log.lines]);
  assert.equal(gate.ledger.records.length, 2);
  for (const secret of [OWN_KEY, OTHER_KEY]) assert.ok(!written.includes(secret), written);
});

test("requests with two keys share no connection, and records tell them apart", async (t) => {
  const keys = new Map<unknown, Set<unknown>>();
  const { gate, upstream } = await start(t, (seen, res) => {
    keys.set(res.socket, (keys.get(res.socket) ?? new Set()).add(seen.headers["x-api-key"]));
    respondWithMessage(seen, res);
  });
  for (const key of [OWN_KEY, OTHER_KEY, OWN_KEY, OTHER_KEY]) {
    await (await post(gate, "/v1/messages", BODY, { "x-api-key": key })).text();
    // Then the connection is free again.
    await wait(3 * REST_MS);
  }
  await waitUntilHandled(gate);
  assert.equal(upstream.seen.length, 4);
  assert.deepEqual(new Set(Array.from(keys.values(), ({ size }) => size)), new Set([1]));
  assert.equal(new Set(gate.ledger.records.map(({ key }) => key)).size, 2);
});

test("where a local token is required, it comes beside the key and is not forwarded", async (t) => {
  const tokens = new MemoryTokens();
  const token = tokens.add("zed");
  const upstream = await startUpstream(t, respondWithMessage);
  const gate = await startGate(t, upstream.baseUrl, {
    upstream: PASSES,
    tokens,
    config: { access: { mode: "token", peerUid: [] } },
  });
  const headers = { "x-api-key": OWN_KEY, "x-tollkeeper-token": token };
  assert.equal((await post(gate, "/v1/messages", BODY, headers)).status, 200);
  assert.ok(!JSON.stringify(upstream.seen[0]?.rawHeaders).includes(token));
  assert.equal(gate.ledger.records[0]?.tool, "zed");
  assert.equal((await post(gate, "/v1/messages", BODY, { "x-api-key": OWN_KEY })).status, 402);
  assert.equal(upstream.seen.length, 1);
});

test("one list of models passes with the tool's key, and a shared list leaves out who would need that", async (t) => {
  const single = await start(t, listOne);
  const headers = { authorization: `Bearer ${OWN_KEY}` };
  assert.equal((await fetch(`${single.gate.url}/v1/models`, { headers })).status, 200);
  assert.equal(single.upstream.seen[0]?.headers.authorization, headers.authorization);
  const { gate, one, other } = await startTwo(t, PASSES, {}, {}, listOne);
  const response = await fetch(`${gate.url}/v1/models`, { headers });
  assert.equal(response.headers.get("x-tollkeeper-missing-upstreams"), "one");
  assert.deepEqual([response.status, one.seen.length, other.seen.length], [200, 0, 1]);
  assert.ok(!JSON.stringify(other.seen[0]?.rawHeaders).includes(OWN_KEY));
});

test("a WebSocket goes with the tool's own key, and no key is read for it or for its messages", async (t) => {
  const { gate, upstream } = await startGateWithWebSockets(t, {
    upstream: SOCKETS,
    config: rulesForTools({ aliases: { "gpt-5.5": "gpt-5" } }),
  });
  const headers = { authorization: `Bearer ${OWN_KEY}` };
  const client = await openSocket(t, gate, { headers });
  client.send(CREATE);
  assert.equal((await client.until(isTerminal)).type, "response.completed");
  assert.equal(upstream.handshakes[0]?.headers.authorization, headers.authorization);
  assert.deepEqual(upstream.messages, [CREATE]);
  assert.equal(gate.keys.reads, 0);
  assert.match(gate.ledger.records[0]?.key ?? "", /^own:default\/[0-9a-f]{8}$/);
  for (const other of [{}, CHATGPT_HEADERS, { authorization: "Bearer tk-codex" }]) {
    const refused = await refusedSocket(gate, { headers: other });
    assert.deepEqual([refused.status, refused.headers["x-tollkeeper-refusal"]], [400, "client_key"]);
  }
  assert.equal(upstream.handshakes.length, 1);
});
