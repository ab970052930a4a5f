// C15, plan and key: what a plan pays goes to the plan's own service with the tool's own login, and no key is ever read for it. What has
// another credential is refused, and nothing leaves.
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import {
  startGateWithPlans,
  CHATGPT_ACCOUNT,
  CHATGPT_HEADERS,
  CHATGPT_LOGIN,
  CLAUDE_HEADERS,
  CLAUDE_LOGIN,
} from "../helpers/gate/gate-with-plans.ts";
import { post, TEST_KEY, waitUntilHandled } from "../helpers/gate/gate.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { MemoryTokens, peersOf } from "../helpers/gate/memory.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { respondWithMessage, sendJson } from "../helpers/upstream/scripted-upstream.ts";

const CLAUDE = "/t/claude-code/plan/v1/messages";
const CODEX = "/t/codex/plan/v1/responses";
const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };

test("a plan's request goes to its own service with the login as it came, and no key is read", async (t) => {
  const { gate, service, upstream, asked } = await startGateWithPlans(t, respondWithMessage);
  const beta = "claude-code-20250219,oauth-2025-04-20,fine-grained-tool-streaming-2025-05-14";
  const sent = {
    ...CLAUDE_HEADERS,
    "anthropic-beta": beta,
    "anthropic-version": "2023-06-01",
    "accept-encoding": "gzip, br",
    "x-app": "cli",
    "x-tollkeeper-tool": "claude-code",
  };
  const response = await post(gate, `${CLAUDE}?beta=true`, BODY, sent);
  assert.equal(response.status, 200);
  const [seen] = service.seen;
  assert.equal(seen?.url, "/v1/messages?beta=true");
  assert.equal(seen?.body.toString(), JSON.stringify(BODY));
  const { host, authorization, "x-app": app, ...headers } = seen?.headers ?? {};
  assert.deepEqual([host, authorization, app], ["api.anthropic.com", sent.authorization, "cli"]);
  assert.equal(headers["anthropic-beta"], beta);
  assert.equal(headers["accept-encoding"], "gzip, br");
  assert.deepEqual(
    ["x-api-key", "x-tollkeeper-tool", "x-tollkeeper-hop"].filter((name) => name in headers),
    [],
  );
  assert.deepEqual(asked(), ["api.anthropic.com:443"]);
  assert.deepEqual([upstream.seen.length, gate.keys.reads], [0, 0]);
  const [record] = gate.ledger.records;
  assert.deepEqual(
    [record?.upstream, record?.key, record?.tool],
    ["plan:claude", "plan:claude", "claude-code"],
  );
});

test("Codex's requests go below backend-api/codex, also to paths that have no route, but to none that could be read as another", async (t) => {
  const { gate, service } = await startGateWithPlans(t, (_seen, res) => sendJson(res, {}));
  const send = (path: string) =>
    exchangeRaw(
      t,
      gate.port,
      [
        `POST /t/codex/plan${path} HTTP/1.1`,
        ...jsonHeaders(gate.port),
        `Authorization: ${CHATGPT_HEADERS.authorization}`,
        `ChatGPT-Account-ID: ${CHATGPT_ACCOUNT}`,
      ],
      "{}",
    );
  for (const path of ["/v1/responses", "/v1/alpha/search", "/v1/something/new?a=1"]) await send(path);
  assert.deepEqual(
    service.seen.map(({ url }) => url),
    [
      "/backend-api/codex/responses",
      "/backend-api/codex/alpha/search",
      "/backend-api/codex/something/new?a=1",
    ],
  );
  assert.equal(service.seen[0]?.headers["chatgpt-account-id"], CHATGPT_ACCOUNT);
  for (const path of [
    "/v1/../wham/usage",
    "/v1/./x",
    "/v1//x",
    "/v1/x/..",
    "/v1/%2e%2e/x",
    "/v1/a%2Fb",
    "/v1/a%5cb",
    "/v1/a\\b",
    "/v1/a%252e",
    "/v1/x/",
    "/wham/usage",
  ])
    assert.equal((await send(path)).status, 404, path);
  assert.equal(service.seen.length, 3);
});

/** Requests that a plan's path refuses: what is wrong, the path and the headers. */
const REFUSED: [what: string, path: string, headers: Record<string, string>][] = [
  ["no login", CLAUDE, {}],
  ["a placeholder", CLAUDE, { authorization: "Bearer tollkeeper" }],
  ["a key as x-api-key", CLAUDE, { "x-api-key": "sk-ant-api03-0123456789abcdef" }],
  ["a key as Bearer", CLAUDE, { authorization: "Bearer sk-ant-api03-0123456789abcdef" }],
  ["a key beside the login", CLAUDE, { ...CLAUDE_HEADERS, "x-api-key": "sk-ant-api03-0123456789abcdef" }],
  ["a placeholder beside the login", CLAUDE, { ...CLAUDE_HEADERS, "x-api-key": "tollkeeper" }],
  ["the login of ChatGPT", CLAUDE, CHATGPT_HEADERS],
  ["the login of Claude", CODEX, { ...CLAUDE_HEADERS, "chatgpt-account-id": CHATGPT_ACCOUNT }],
  ["a token without its account", CODEX, { authorization: CHATGPT_HEADERS.authorization }],
  ["a key of OpenAI", CODEX, { ...CHATGPT_HEADERS, authorization: "Bearer sk-proj-0123456789abcdefghij" }],
  ["basic authentication", CODEX, { ...CHATGPT_HEADERS, authorization: "Basic dXNlcjpwYXNzd29yZA==" }],
  ["two words as Bearer", CLAUDE, { authorization: `Bearer ${CLAUDE_LOGIN} x` }],
];

test("anything but the tool's own login is refused, without 401, and nothing leaves", async (t) => {
  const { gate, service, upstream, asked } = await startGateWithPlans(t, respondWithMessage);
  for (const [what, path, headers] of REFUSED) {
    const response = await post(gate, path, BODY, headers);
    const code = response.headers.get("x-tollkeeper-refusal");
    assert.deepEqual([code, response.status], ["plan_login", path === CLAUDE ? 402 : 400], what);
    const text = await response.text();
    for (const secret of [CLAUDE_LOGIN, CHATGPT_LOGIN, TEST_KEY, "0123456789abcdef"])
      assert.ok(!text.includes(secret), what);
  }
  assert.deepEqual([service.seen.length, upstream.seen.length, asked(), gate.keys.reads], [0, 0, [], 0]);
});

/** Addresses for a key, with the login of a plan. */
const LOGINS_AT_KEYS: [path: string, headers: Record<string, string>, status: number][] = [
  ["/t/claude-code/v1/messages", CLAUDE_HEADERS, 402],
  ["/v1/messages", CLAUDE_HEADERS, 402],
  ["/v1/messages/count_tokens", CLAUDE_HEADERS, 402],
  ["/v1/chat/completions", CLAUDE_HEADERS, 400],
  ["/v1/responses", CHATGPT_HEADERS, 400],
  ["/t/codex/v1/responses", { authorization: "AgentAssertion c2lnbmVkLWFzc2VydGlvbg==.01" }, 400],
  ["/v1/messages", { ...CLAUDE_HEADERS, "x-api-key": "tk-claude-code" }, 402],
];

test("a plan's login that comes to the address of a key is refused, and no key pays for it", async (t) => {
  const { gate, service, upstream } = await startGateWithPlans(t, respondWithMessage);
  for (const [path, headers, status] of LOGINS_AT_KEYS) {
    const response = await post(gate, path, BODY, headers);
    const code = response.headers.get("x-tollkeeper-refusal");
    assert.deepEqual([code, response.status], ["plan_login", status], path);
    const tool = headers === CLAUDE_HEADERS || path.includes("messages") ? "claude-code" : "codex";
    const address = tool === "codex" ? "/t/codex/plan/v1" : "/t/claude-code/plan";
    const text = await response.text();
    assert.match(text, /a key would pay/);
    assert.match(text, new RegExp(`ends in ${address};.* Type: tollkeeper connect ${tool} --account plan"`));
    assert.match(text, new RegExp(`type: tollkeeper connect ${tool} --account key;`));
  }
  assert.deepEqual([service.seen.length, upstream.seen.length, gate.keys.reads], [0, 0, 0]);
  for (const authorization of [
    "Bearer tk-claude-code",
    "Bearer tollkeeper",
    "Bearer sk-ant-api03-0123456789abcdef",
  ])
    assert.equal((await post(gate, "/v1/messages", BODY, { authorization })).status, 200, authorization);
});

test("where the configuration says so, the key pays instead, and the login goes nowhere", async (t) => {
  const { gate, upstream } = await startGateWithPlans(t, respondWithMessage, {
    config: { planLogins: "strip" },
  });
  assert.equal((await post(gate, "/t/claude-code/v1/messages", BODY, CLAUDE_HEADERS)).status, 200);
  const sent = JSON.stringify(upstream.seen[0]?.rawHeaders);
  assert.ok(sent.includes(TEST_KEY) && !sent.includes(CLAUDE_LOGIN), sent);
});

test("a plan is off until the configuration lists its tool, and no other tool has one", async (t) => {
  const { gate, service } = await startGateWithPlans(t, respondWithMessage, { config: { plans: ["codex"] } });
  for (const path of [CLAUDE, "/t/opencode/plan/v1/messages"]) {
    const response = await post(gate, path, BODY, CLAUDE_HEADERS);
    assert.deepEqual(
      [response.status, response.headers.get("x-tollkeeper-refusal")],
      [402, "plan_off"],
      path,
    );
  }
  assert.equal((await post(gate, "/plan/v1/messages", BODY, CLAUDE_HEADERS)).status, 404);
  assert.equal(service.seen.length, 0);
});

test("a plan is for programs of the daemon's own user, under a name of this machine", async (t) => {
  const foreign = await startGateWithPlans(t, respondWithMessage, { peers: peersOf(null) });
  assert.equal((await post(foreign.gate, CLAUDE, BODY, CLAUDE_HEADERS)).status, 402);
  assert.equal(foreign.service.seen.length, 0);
});

test("no alias, no fallback and no rule of upstreams changes where a plan's request goes, nor its body", async (t) => {
  const { gate, service, upstream } = await startGateWithPlans(t, respondWithMessage, {
    config: { aliases: { "claude-sonnet-5": "another-model" } },
    upstream: { models: ["claude-*"], headers: { "anthropic-organization": "org" } },
  });
  assert.equal((await post(gate, CLAUDE, BODY, CLAUDE_HEADERS)).status, 200);
  assert.equal(service.seen[0]?.body.toString(), JSON.stringify(BODY));
  assert.ok(!("anthropic-organization" in (service.seen[0]?.headers ?? {})));
  assert.equal(upstream.seen.length, 0);
});

test("errors of the service pass as they are, but for the login that one of them repeats, and none is sent again", async (t) => {
  const { gate, service } = await startGateWithPlans(t, (_seen, res) => {
    res.writeHead(401, { "content-type": "application/json", "x-should-retry": "true" });
    res.end(JSON.stringify({ error: { message: `invalid ${CLAUDE_LOGIN}` } }));
  });
  const response = await post(gate, CLAUDE, BODY, CLAUDE_HEADERS);
  assert.deepEqual([response.status, response.headers.get("x-should-retry")], [401, "true"]);
  const text = await response.text();
  assert.ok(!text.includes(CLAUDE_LOGIN), text);
  assert.deepEqual([service.seen.length, gate.keys.reads], [1, 0]);
});

test("the login is in no record and in no line of the log, wherever the tool repeats it", async (t) => {
  const { gate } = await startGateWithPlans(t, (seen, res) => {
    const login = seen.headers.authorization?.replace("Bearer ", "") ?? "";
    sendJson(res, {
      id: `msg_${login}`,
      type: "message",
      model: login,
      stop_reason: login,
      content: [],
      usage: { input_tokens: 3, output_tokens: 2 },
    });
  });
  const headers = {
    ...CLAUDE_HEADERS,
    "user-agent": `claude-cli/2 ${CLAUDE_LOGIN}`,
    "x-claude-code-session-id": CLAUDE_LOGIN,
  };
  await (await post(gate, CLAUDE, { ...BODY, model: CLAUDE_LOGIN }, headers)).text();
  await (
    await post(gate, CODEX, BODY, {
      ...CHATGPT_HEADERS,
      "user-agent": `codex ${CHATGPT_LOGIN}`,
      "session-id": CHATGPT_LOGIN,
    })
  ).text();
  await waitUntilHandled(gate);
  const written = JSON.stringify([gate.ledger.records, gate.log.lines]);
  assert.equal(gate.ledger.records.length, 2);
  for (const secret of [CLAUDE_LOGIN, CHATGPT_LOGIN, CHATGPT_ACCOUNT])
    assert.ok(!written.includes(secret), secret);
});

test("requests of two logins share no connection", async (t) => {
  const logins = new Map<unknown, Set<string | undefined>>();
  const { gate, service } = await startGateWithPlans(t, (seen, res) => {
    const ofConnection = logins.get(res.socket) ?? new Set();
    logins.set(res.socket, ofConnection.add(seen.headers.authorization));
    respondWithMessage(seen, res);
  });
  const other = { authorization: `Bearer sk-ant-oat01-another-login-of-claude-0815` };
  // A connection is free a moment after its response: one of the first login's is, when the other login asks.
  for (const headers of [CLAUDE_HEADERS, CLAUDE_HEADERS, CLAUDE_HEADERS, other, other, other])
    await (await post(gate, CLAUDE, BODY, headers)).text();
  assert.equal(service.seen.length, 6);
  assert.deepEqual(new Set(Array.from(logins.values(), ({ size }) => size)), new Set([1]));
});

test("a compressed body passes as it is", async (t) => {
  const { gate, service } = await startGateWithPlans(t, (_seen, res) => sendJson(res, {}));
  const body = gzipSync(JSON.stringify(BODY));
  const response = await fetch(gate.url + CODEX, {
    method: "POST",
    headers: { ...CHATGPT_HEADERS, "content-type": "application/json", "content-encoding": "gzip" },
    body,
  });
  assert.equal(response.status, 200);
  assert.deepEqual(service.seen[0]?.body, body);
});

test("an agent's signature passes as it came", async (t) => {
  const { gate, service } = await startGateWithPlans(t, (_seen, res) => sendJson(res, {}));
  const authorization = "AgentAssertion c2lnbmVkLWFzc2VydGlvbg==.0123456789";
  assert.equal((await post(gate, CODEX, BODY, { authorization })).status, 200);
  assert.equal(service.seen[0]?.headers.authorization, authorization);
});

test("tools find out at a plan's address whether it can be reached", async (t) => {
  const { gate, service } = await startGateWithPlans(t, respondWithMessage);
  for (const path of ["/t/claude-code/plan", "/t/claude-code/plan/api/hello"])
    assert.equal((await fetch(gate.url + path, { method: "HEAD" })).status, 200, path);
  assert.equal(service.seen.length, 0);
});

test("a brake or a budget in tokens throttles a plan as its service would: 429 with retry-after", async (t) => {
  const config = rulesForTools({ tools: { "claude-code": { brake: { requestsPerMinute: 1 } } } });
  const { gate, service } = await startGateWithPlans(t, respondWithMessage, { config });
  assert.equal((await post(gate, CLAUDE, BODY, CLAUDE_HEADERS)).status, 200);
  const response = await post(gate, CLAUDE, BODY, CLAUDE_HEADERS);
  assert.deepEqual([response.status, response.headers.get("x-tollkeeper-refusal")], [429, "plan_throttled"]);
  assert.match(response.headers.get("retry-after") ?? "", /^(?:[1-9]|[1-5]\d|60)$/);
  assert.match(await response.text(), /rate_limit_error.*The next may go in/);
  assert.equal(service.seen.length, 1);
});

test("a group's models hold for a plan, too", async (t) => {
  const rules = {
    tools: { "claude-code": { group: "small" } },
    groups: { small: { models: ["claude-haiku-*"] } },
  };
  const { gate, service } = await startGateWithPlans(t, respondWithMessage, { config: rulesForTools(rules) });
  const response = await post(gate, CLAUDE, BODY, CLAUDE_HEADERS);
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_not_allowed");
  assert.equal(
    (await post(gate, CLAUDE, { ...BODY, model: "claude-haiku-4-5" }, CLAUDE_HEADERS)).status,
    200,
  );
  assert.equal(service.seen.length, 1);
});

test("where a local token is required, it comes beside the login and goes no further", async (t) => {
  const tokens = new MemoryTokens();
  const token = tokens.add("claude-code");
  const { gate, service } = await startGateWithPlans(t, respondWithMessage, {
    tokens,
    config: { access: { mode: "token", peerUid: [] } },
  });
  assert.equal(
    (await post(gate, CLAUDE, BODY, CLAUDE_HEADERS)).headers.get("x-tollkeeper-refusal"),
    "token_required",
  );
  const headers = { ...CLAUDE_HEADERS, "x-tollkeeper-token": token };
  assert.equal((await post(gate, CLAUDE, BODY, headers)).status, 200);
  assert.ok(!JSON.stringify(service.seen[0]?.rawHeaders).includes(token));
  const other = tokens.add("codex");
  gate.tokenGuard.reload();
  const wrong = await post(gate, CLAUDE, BODY, { ...CLAUDE_HEADERS, "x-tollkeeper-token": other });
  assert.equal(wrong.headers.get("x-tollkeeper-refusal"), "plan_login");
  assert.equal(service.seen.length, 1);
});
