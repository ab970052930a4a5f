// C3, one credential: no credential of the client reaches the upstream, in any spelling. Exactly one credential does: ours.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { post, startGate, TEST_KEY } from "../helpers/gate/gate.ts";
import { valuesOf, type RawMessage } from "../helpers/client/http-messages.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { RECORDED_REQUESTS, type RecordedRequest } from "../helpers/tools/recorded-requests.ts";
import { echo } from "../helpers/upstream/raw-upstream.ts";
import { sendJson, startUpstream, respondWithEmptyJson } from "../helpers/upstream/scripted-upstream.ts";
import { formatLocalToken } from "../../src/core/secrets/local-token.ts";
import { HOP_HEADER } from "../../src/core/http/header-policy.ts";
import { startGateWithRawUpstream, startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Header names that are, or could be, taken for a credential. */
const CREDENTIALS = [
  "Authorization",
  "X-Api-Key",
  "Api-Key",
  "Apikey",
  "X-Apikey",
  "X-Auth-Key",
  "X-Auth-Token",
  "X-Access-Token",
  "Proxy-Authorization",
  "X-Authorization",
  "X-Forwarded-Authorization",
  "X-Original-Authorization",
  "Token",
  "Cookie",
  "Cookie2",
  "X-Csrf-Token",
  "X-Xsrf-Token",
  "Chatgpt-Account-Id",
  "X-Goog-Api-Key",
  "X-Amz-Security-Token",
  "Ocp-Apim-Subscription-Key",
  "X-Client-Secret",
  "X-Secret",
  "Anthropic-Api-Key",
  "OpenAI-Api-Key",
  "X-Session-Token",
  "X-Credentials",
  "X-Password",
  "X-Passwd",
  "Authentication",
  "X-Auth",
  "X-Auth-Tokens",
  "Bearer",
  "Jwt",
  "Dpop",
  "Access-Key",
  "X-Api-Key-2",
  "X-Api-Keys",
  "X-Functions-Key",
  "X-Litellm-Key",
  "Remote-User",
  "X-Api-Key2",
  "X-Api-Key-3",
  "X-Token1",
  "Sec-WebSocket-Protocol",
  "Sec-WebSocket-Key",
  "X-Signature",
  "Signature",
  "Signature-Input",
  "X-Pwd",
  "X-Passphrase",
  "X-Otp",
  "X-AuthToken",
  "AccessToken",
  "ApiToken",
  "X-ClientSecret",
  "X-UserPassword",
  "JSessionId",
  "X-Auth-V2",
  "X-Api-Key-V2",
  "X.Api.Key",
  "X-Key-Id",
  "X-Hmac",
  "X-Keyvalue",
  "X-Bf-Vk",
  "X-Ca-Sign",
  "X-Pw",
  "X-Pin",
  "X-Tok",
  "X-Ak",
  "X-Sk",
  "X-Saml",
  "X-Code",
  "X-Ticket",
  "X-License",
  "X-Session",
  "X-SessionId",
  "Cf-Access-Client-Id",
  "X-Tollkeeper-Tool",
  "X-Tollkeeper-Token",
];

/** Spellings that a lax server would take for the same name. */
const spellings = (name: string) => [
  name,
  name.toUpperCase(),
  name.toLowerCase(),
  name.replaceAll("-", "_"),
  name.replace("-", "_").toLowerCase(),
];

const CLIENT_VALUE = "tk-client-secret";

const ROUTES = [
  ["GET", "/v1/models", "authorization"],
  ["POST", "/v1/responses", "authorization"],
  ["POST", "/v1/messages", "x-api-key"],
  ["POST", "/v1/messages/count_tokens", "x-api-key"],
] as const;

/** The names of all headers that contain the key. */
function namesOfKey({ headers }: RawMessage): string[] {
  return headers.filter(([, value]) => value.includes(TEST_KEY)).map(([name]) => name);
}

for (const [method, path, credential] of ROUTES) {
  test(`on ${method} ${path} no client credential passes in any spelling, and ${credential} is ours`, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    // One request per spelling, because duplicate names are refused (C2).
    for (const i of [0, 1, 2, 3, 4]) {
      const lines = CREDENTIALS.map((name) => `${spellings(name)[i] ?? name}: ${CLIENT_VALUE}`);
      const usual = [...jsonHeaders(gate.port), "X-Passes: 1"];
      const body = method === "POST" ? "{}" : "";
      const { status } = await exchangeRaw(
        t,
        gate.port,
        [`${method} ${path} HTTP/1.1`, ...usual, ...lines],
        body,
      );
      assert.equal(status, 200);
      const seen = upstream.requests.at(-1);
      assert.ok(seen);
      assert.deepEqual(
        seen.headers.filter(([, value]) => value.includes(CLIENT_VALUE)),
        [],
      );
      assert.deepEqual(namesOfKey(seen), [credential]);
      assert.deepEqual(valuesOf(seen, "x-passes"), ["1"]);
    }
  });
}

/** Queries with a credential, and what the upstream gets. */
const QUERIES: [sent: string, received: string][] = [
  [`?key=${CLIENT_VALUE}`, ""],
  [`?beta=true&api_key=${CLIENT_VALUE}&x=%2F..%2f&x=2&empty=&flag`, "?beta=true&x=%2F..%2f&x=2&empty=&flag"],
  [`?access_token=${CLIENT_VALUE}&limit=1`, "?limit=1"],
  [`?limit=1;subscription-key=${CLIENT_VALUE}`, "?limit=1"],
  [`?%6Bey=${CLIENT_VALUE}&API+KEY=${CLIENT_VALUE}&ap%69_key=${CLIENT_VALUE}`, ""],
  [`?auth[token]=${CLIENT_VALUE}&pageToken=2&pageToken=3`, "?pageToken=2&pageToken=3"],
  [`?beta=true?key=${CLIENT_VALUE}`, "?beta=true"],
  [`?a=1%26api_key%3D${CLIENT_VALUE}&a=1%26b%3D2`, "?a=1%26b%3D2"],
  [`?%E2%84%AAey=${CLIENT_VALUE}&code=${CLIENT_VALUE}&limit=1`, "?limit=1"],
  [`?%C5%BFecret=${CLIENT_VALUE}&%EF%BD%8Bey=${CLIENT_VALUE}&limit=1`, "?limit=1"],
];

for (const [method, path, credential] of ROUTES) {
  test(`on ${method} ${path} no client credential passes in the query, and the rest is unchanged`, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    for (const [sent, received] of QUERIES) {
      const body = method === "POST" ? "{}" : "";
      const { status } = await exchangeRaw(
        t,
        gate.port,
        [`${method} ${path}${sent} HTTP/1.1`, ...jsonHeaders(gate.port)],
        body,
      );
      assert.equal(status, 200);
      const seen = upstream.requests.at(-1);
      assert.ok(seen);
      assert.equal(seen.start, `${method} ${path}${received} HTTP/1.1`);
      assert.deepEqual(namesOfKey(seen), [credential]);
    }
    assert.ok(!JSON.stringify([gate.ledger.records, gate.log.lines]).includes(CLIENT_VALUE));
  });
}

test("a query parameter that the configuration allows for an upstream passes to this one", async (t) => {
  const { upstream, gate } = await startGateWithRawUpstream(t, echo, { upstream: { allowQuery: ["sig"] } });
  const lines = [`POST /v1/messages?sig=1&key=${CLIENT_VALUE} HTTP/1.1`, ...jsonHeaders(gate.port)];
  await exchangeRaw(t, gate.port, lines, "{}");
  assert.equal(upstream.requests[0]?.start, "POST /v1/messages?sig=1 HTTP/1.1");
});

const TOKEN = formatLocalToken("codex", "x".repeat(43));
const KNOWN_KEY = `ghp_${"xxxxxxxxA1".repeat(3)}`;

/** Ways in which a client may send a credential where no rule for names expects one. */
const VALUES: [what: string, value: string][] = [
  ["a local token", TOKEN],
  ["a local token with something joined to it", `${TOKEN}_1`],
  ["a local token, percent-encoded", encodeAll(TOKEN)],
  ["a local token, percent-encoded twice", encodeURIComponent(encodeAll(TOKEN))],
  ["a key of a known form", KNOWN_KEY],
  ["a key of a known form, percent-encoded", encodeAll(KNOWN_KEY)],
];

function encodeAll(text: string): string {
  return Buffer.from(text).toString("hex").replaceAll(/../g, "%$&");
}

for (const [what, value] of VALUES) {
  test(`${what} passes in no header and no query parameter, whatever its name`, async (t) => {
    const { upstream, gate } = await startGateWithRawUpstream(t, echo);
    const lines = [
      `POST /v1/messages?user=${value}&beta=true HTTP/1.1`,
      ...jsonHeaders(gate.port),
      `X-Passes: 1`,
      `X-User: ${value}`,
      `Session-Id: ${value}`,
      `X-Metadata: {"user":"${value}"}`,
      ...(value.startsWith(TOKEN) ? [`Y-${value}: 1`] : []),
    ];
    await exchangeRaw(t, gate.port, lines, "{}");
    const [seen] = upstream.requests;
    assert.ok(seen);
    assert.equal(seen.start, "POST /v1/messages?beta=true HTTP/1.1");
    assert.deepEqual(valuesOf(seen, "x-passes"), ["1"]);
    assert.ok(!/x{8}|(?:%(?:25)?78){8}/.test(JSON.stringify(seen)));
  });
}

test("each route carries its own kind of credential and no other", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson);
  const placeholders = { authorization: "Bearer placeholder", "x-api-key": "placeholder" };
  await (await fetch(`${gate.url}/v1/models`, { headers: placeholders })).text();
  await (await post(gate, "/v1/responses", {}, placeholders)).text();
  await (await post(gate, "/v1/messages", {}, placeholders)).text();
  await (await post(gate, "/v1/messages/count_tokens", {}, placeholders)).text();
  const sent = upstream.seen.map(({ url, headers }) => [url, headers.authorization, headers["x-api-key"]]);
  assert.deepEqual(sent, [
    ["/v1/models", `Bearer ${TEST_KEY}`, undefined],
    ["/v1/responses", `Bearer ${TEST_KEY}`, undefined],
    ["/v1/messages", undefined, TEST_KEY],
    ["/v1/messages/count_tokens", undefined, TEST_KEY],
  ]);
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers["anthropic-version"]),
    [undefined, undefined, "2023-06-01", "2023-06-01"],
  );
  assert.ok(upstream.seen.every(({ headers }) => headers.host === new URL(upstream.origin).host));
});

test("count_tokens can be configured to carry a bearer credential", async (t) => {
  const { upstream, gate } = await startGateWithUpstream(
    t,
    (_seen, res) => sendJson(res, { input_tokens: 1 }),
    { upstream: { countTokensAuth: "bearer" } },
  );
  await (await post(gate, "/v1/messages/count_tokens", {})).text();
  assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${TEST_KEY}`);
});

test("an upstream's own way to carry the key holds on every route, with the API version beside x-api-key", async (t) => {
  for (const [auth, name, value] of [
    ["bearer", "authorization", `Bearer ${TEST_KEY}`],
    ["x-api-key", "x-api-key", TEST_KEY],
  ] as const) {
    const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson, { upstream: { auth } });
    await (await fetch(`${gate.url}/v1/models`)).text();
    for (const path of ["/v1/responses", "/v1/messages", "/v1/messages/count_tokens"])
      await (await post(gate, path, {})).text();
    for (const { url, headers } of upstream.seen) {
      assert.deepEqual(
        [headers[name], headers[name === "x-api-key" ? "authorization" : "x-api-key"]],
        [value, undefined],
        url,
      );
      if (auth === "x-api-key") assert.equal(headers["anthropic-version"], "2023-06-01", url);
    }
    assert.equal(upstream.seen.length, 4);
  }
});

test('an upstream with "auth": "none" gets no credential, ours or the client\'s, and its key is never read', async (t) => {
  const { upstream, gate } = await startGateWithUpstream(t, respondWithEmptyJson, {
    upstream: { auth: "none", keySource: { kind: "none" } },
  });
  await (await post(gate, "/v1/messages", {}, { "x-api-key": "sk-client" })).text();
  await (await fetch(`${gate.url}/v1/models`, { headers: { authorization: "Bearer sk-client" } })).text();
  assert.equal(upstream.seen.length, 2);
  for (const { headers } of upstream.seen)
    assert.deepEqual([headers.authorization, headers["x-api-key"]], [undefined, undefined]);
});

test("all 59 recorded requests are sent without placeholder, tool mark or client credential", async (t) => {
  const upstream = await startUpstream(t, respondWithEmptyJson);
  const gate = await startGate(t, upstream.baseUrl);
  for (const entry of RECORDED_REQUESTS) {
    const before = upstream.seen.length;
    const status = await replay(gate.port, entry);
    if (entry.method === "HEAD") {
      assert.deepEqual([status, upstream.seen.length], [200, before]);
      continue;
    }
    if (entry.headers.some(([name]) => name.toLowerCase() === "upgrade")) {
      assert.deepEqual([status, upstream.seen.length], [426, before], entry.id);
      continue;
    }
    assert.equal(status, 200, entry.id);
    const seen = upstream.seen.at(-1);
    // Our own mark, which an upstream on this machine gets.
    const sent = seen?.rawHeaders.filter((text) => text !== HOP_HEADER);
    const head = JSON.stringify(sent).toLowerCase();
    for (const trace of [
      "placeholder",
      "tollkeeper",
      "oat01",
      "fake.jwt",
      "acc-lab",
      "undefined",
      "oauth-2025",
    ]) {
      assert.ok(!head.includes(trace), `${entry.id}: ${trace} in ${head}`);
    }
    assert.equal(head.split(TEST_KEY.toLowerCase()).length, 2, `${entry.id}: the key stands once`);
    const record = gate.ledger.records.at(-1);
    assert.equal(record?.tool, entry.tool, entry.id);
    const beta = entry.headers.find(([name]) => name === "anthropic-beta")?.[1];
    assert.equal(seen?.headers["anthropic-beta"], beta?.replace("oauth-2025-04-20,", ""), entry.id);
  }
});

/** Sends the recorded head with a small body. Returns the status of the response. */
function replay(port: number, { method, url, headers }: RecordedRequest): Promise<number> {
  const body = method === "POST" ? "{}" : "";
  const own = headers
    .filter(([name]) => !["connection", "content-length"].includes(name.toLowerCase()))
    .map(([name, value]) => [name, name.toLowerCase() === "host" ? `127.0.0.1:${port}` : value]);
  const flat = [...own, ...(body === "" ? [] : [["content-length", String(body.length)]])].flat();
  return new Promise((resolve, reject) => {
    const req = request({
      port,
      host: "127.0.0.1",
      method,
      path: url,
      headers: flat,
      setHost: false,
    });
    req.on("response", (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode ?? 0));
    });
    req.on("error", reject);
    req.end(body);
  });
}
