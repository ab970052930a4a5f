// Google's API: its paths in all versions, the key in its header, the model in the path, its lists and errors. With real sockets, from the
// client to the record.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Config, Upstream } from "../../src/core/config/config.ts";
import { classify } from "../../src/core/ledger/spend.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams } from "../helpers/gate/gate-with-upstreams.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { post, TEST_KEY, type GateOptions } from "../helpers/gate/gate.ts";
import { CONTENT_EVENTS, CONTENT_LIST, respondAsGoogle } from "../helpers/upstream/gemini-answers.ts";
import { respondWithMessage, sendJson } from "../helpers/upstream/scripted-upstream.ts";

const GOOGLE: Partial<Upstream> = { apis: ["gemini"] };
const BODY = { contents: [{ role: "user", parts: [{ text: "hello" }] }] };
const FLASH = "/v1beta/models/gemini-2.5-flash";

function start(t: TestContext, options: GateOptions = {}) {
  return startGateWithUpstream(t, respondAsGoogle, {
    ...options,
    upstream: { ...GOOGLE, ...options.upstream },
  });
}

for (const [path, sent, route, expected] of [
  [`${FLASH}:generateContent`, null, "models/{id}:generateContent", "final count false"],
  [
    `/t/zed${FLASH}:generateContent`,
    `${FLASH}:generateContent`,
    "models/{id}:generateContent",
    "final count false",
  ],
  [
    `/v1beta${FLASH}:generateContent`,
    `${FLASH}:generateContent`,
    "models/{id}:generateContent",
    "final count false",
  ],
  ["/v1/models/gemini-2.5-flash:generateContent", null, "models/{id}:generateContent", "final count false"],
  [
    "/v1alpha/models/gemini-2.5-flash:generateContent",
    null,
    "models/{id}:generateContent",
    "final count false",
  ],
  [`${FLASH}%3AgenerateContent`, null, "models/{id}:generateContent", "final count false"],
  [
    "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent",
    null,
    "models/{id}:generateContent",
    "final count false",
  ],
  [`${FLASH}:streamGenerateContent?alt=sse`, null, "models/{id}:streamGenerateContent", "final count true"],
  [`${FLASH}:streamGenerateContent`, null, "models/{id}:streamGenerateContent", "final count true"],
  [`${FLASH}:countTokens`, null, "models/{id}:countTokens", "none never false"],
  [`${FLASH}:embedContent`, null, "models/{id}:embedContent", "final count false"],
  [`${FLASH}:batchEmbedContents`, null, "models/{id}:batchEmbedContents", "absent never false"],
] as const) {
  test(`POST ${path} reaches the upstream as it is, and its record says ${expected}`, async (t) => {
    const { gate, upstream } = await start(t);
    const response = await post(gate, path, BODY, { "x-goog-api-key": "dummy" });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.equal(upstream.seen[0]?.url, sent ?? path);
    assert.equal(upstream.seen[0]?.body.toString(), JSON.stringify(BODY));
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.route, record.model_requested, `${record.usage} ${record.spend} ${record.stream}`],
      [`/v1beta/${route}`, "gemini-2.5-flash", expected],
    );
  });
}

test("both forms of a stream pass byte for byte, and their records have the counts of the last chunk alone", async (t) => {
  for (const [query, whole] of [
    ["?alt=sse", CONTENT_EVENTS.join("")],
    ["", CONTENT_LIST],
  ] as const) {
    const { gate } = await start(t);
    const response = await post(gate, `${FLASH}:streamGenerateContent${query}`, BODY);
    assert.equal(await response.text(), whole);
    const { tokens, model, response_id: id, outcome } = await gate.ledger.only();
    assert.deepEqual(
      [tokens?.input_uncached, tokens?.cache_read, tokens?.output, tokens?.reasoning],
      [10, 5, 10, 3],
    );
    assert.deepEqual([model, id, outcome], ["gemini-2.5-flash", "r-1", "completed"]);
  }
});

test("cached contents are created, listed, fetched and deleted; of these only the first can cost something", async (t) => {
  const { gate, upstream } = await start(t);
  const path = "/v1beta/cachedContents";
  await (await post(gate, path, { model: "models/gemini-2.5-flash", ...BODY })).text();
  for (const [method, url] of [
    ["GET", path],
    ["GET", `${path}/abc-1`],
    ["DELETE", `${path}/abc-1`],
  ] as const)
    assert.equal((await fetch(gate.url + url, { method })).status, 200);
  assert.deepEqual(
    upstream.seen.map(({ method, url }) => `${method} ${url}`),
    [`POST ${path}`, `GET ${path}`, `GET ${path}/abc-1`, `DELETE ${path}/abc-1`],
  );
  const records = gate.ledger.records;
  assert.deepEqual(records.map(({ route, usage }) => `${route} ${usage}`).slice(1), [
    `${path} none`,
    `${path}/{id} none`,
    `${path}/{id} none`,
  ]);
});

test("a cached content is changed by a PATCH, with JSON and no other body: it is stored for longer, at an unknown cost", async (t) => {
  const budgets = new RecordingBudgets();
  const stored = { name: "cachedContents/abc-1", usageMetadata: { totalTokenCount: 4096 } };
  const { gate, upstream } = await startGateWithUpstream(
    t,
    ({ url }, res) =>
      url.includes("abc-1") ? sendJson(res, stored) : sendJson(res, { error: { code: 403 } }, 403),
    { upstream: GOOGLE, budgets, config: rulesForTools({ budgets: [{ usd: 1, per: "day" }] }) },
  );
  const path = "/v1beta/cachedContents/abc-1";
  const patch = (type: string, to = path) =>
    fetch(`${gate.url}${to}?updateMask=ttl`, {
      method: "PATCH",
      body: '{"ttl":"600s"}',
      headers: { "content-type": type },
    });
  assert.equal((await patch("application/json")).status, 200);
  const [seen] = upstream.seen;
  assert.deepEqual(
    [seen?.method, seen?.url, seen?.body.toString()],
    ["PATCH", `${path}?updateMask=ttl`, '{"ttl":"600s"}'],
  );
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.method, record.route, record.usage, record.tokens, record.server_tools, classify(record)],
    ["PATCH", "/v1beta/cachedContents/{id}", "absent", null, { cache_storage: 1 }, "request"],
  );
  assert.equal(budgets.asked.length, 1);
  assert.equal((await patch("application/json", "/v1beta/cachedContents/other")).status, 403);
  assert.equal(gate.ledger.records.map(classify)[1], "failed");
  assert.equal((await patch("text/plain")).status, 415);
  const other = await fetch(`${gate.url}/v1beta/files/f-1`, { method: "PATCH", body: "{}" });
  assert.equal(other.status, 405);
  assert.equal(upstream.seen.length, 2);
});

test("the key is put into x-goog-api-key; the client's goes nowhere, in whatever form", async (t) => {
  const { gate, upstream } = await start(t);
  const forms: [string, Record<string, string>][] = [
    ["", { "x-goog-api-key": "client-secret-1" }],
    ["", { "x-goog-api-key": "" }],
    ["", { authorization: "Bearer client-secret-1", "x-goog-api-key": "client-secret-1" }],
    ["?key=client-secret-1", {}],
    ["?alt=sse&key=client-secret-1", {}],
    ["?access_token=client-secret-1&prettyPrint=false", {}],
    ["?oauth_token=client-secret-1", {}],
    ["?$key=client-secret-1", {}],
    ["?upload_id=1&%6bey=client-secret-1", {}],
  ];
  for (const [query, headers] of forms)
    await (await post(gate, `${FLASH}:generateContent${query}`, BODY, headers)).text();
  for (const { url, headers, rawHeaders } of upstream.seen) {
    assert.equal(headers["x-goog-api-key"], TEST_KEY);
    assert.equal(rawHeaders.filter((one) => one.toLowerCase() === "x-goog-api-key").length, 1);
    assert.equal(headers.authorization, undefined);
    assert.doesNotMatch(url + rawHeaders.join(), /client-secret/);
  }
  assert.match(upstream.seen[4]?.url ?? "", /\?alt=sse$/);
  assert.match(upstream.seen[5]?.url ?? "", /\?prettyPrint=false$/);
  assert.doesNotMatch(JSON.stringify([gate.ledger.records, gate.log]), /client-secret/);
});

test("an upstream with bearer tokens, as Vertex, gets one in Authorization", async (t) => {
  const { gate, upstream } = await start(t, { upstream: { auth: "bearer" } });
  await (await post(gate, `${FLASH}:generateContent`, BODY, { "x-goog-api-key": "dummy" })).text();
  assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${TEST_KEY}`);
  assert.equal(upstream.seen[0]?.headers["x-goog-api-key"], undefined);
});

test("an alias is put into the path, and the record has both names", async (t) => {
  const { gate, upstream } = await start(t, {
    config: { aliases: { "gemini-2.5-flash": "gemini-3-flash-preview" } },
  });
  await (await post(gate, `${FLASH}:generateContent?alt=json`, BODY)).text();
  await (await post(gate, "/v1beta/cachedContents", { model: "models/gemini-2.5-flash" })).text();
  assert.equal(upstream.seen[0]?.url, "/v1beta/models/gemini-3-flash-preview:generateContent?alt=json");
  assert.equal(upstream.seen[1]?.body.toString(), '{"model":"models/gemini-3-flash-preview"}');
  const [record] = gate.ledger.records;
  assert.deepEqual([record?.model_requested, record?.alias], ["gemini-2.5-flash", "gemini-3-flash-preview"]);
});

test("an alias that no path of Google's can have is refused with the place to change it", async (t) => {
  const { gate, upstream } = await start(t, { config: { aliases: { "gemini-2.5-flash": "openai/gpt-5" } } });
  const response = await post(gate, `${FLASH}:generateContent`, BODY);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /alias/);
  assert.equal(upstream.seen.length, 0);
});

test("the model in the path chooses the upstream, before the body has arrived", async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    anthropic: { script: respondWithMessage },
    pro: { script: respondAsGoogle, settings: { ...GOOGLE, models: ["*pro*"] } },
    flash: { script: respondAsGoogle, settings: { ...GOOGLE, models: ["*flash*"] } },
  });
  await (await post(gate, "/v1beta/models/gemini-2.5-pro:generateContent", BODY)).text();
  await (await post(gate, `${FLASH}:generateContent`, BODY)).text();
  const lite = await post(gate, "/v1beta/models/gemma:generateContent", BODY);
  assert.equal(lite.headers.get("x-tollkeeper-refusal"), "model_not_found");
  assert.deepEqual(
    Object.values(upstreams).map(({ seen }) => seen.length),
    [0, 1, 1],
  );
});

test("a budget gets the model of the path, and the output that generationConfig allows", async (t) => {
  const budgets = new RecordingBudgets();
  const rules = rulesForTools({ budgets: [{ usd: 1, per: "day" }] });
  const { gate } = await start(t, { budgets, config: rules });
  const body = { ...BODY, generationConfig: { maxOutputTokens: 321, candidateCount: 2 } };
  await (await post(gate, `${FLASH}:generateContent`, body)).text();
  const [asked] = budgets.asked;
  assert.deepEqual([asked?.model, asked?.output], ["gemini-2.5-flash", 642]);
});

test("/v1/models is Google's for its clients and the others' for all others; /v1beta/models is always Google's", async (t) => {
  const { gate } = await startGateWithUpstreams(t, {
    openai: { script: (_seen, res) => sendJson(res, { object: "list", data: [{ id: "gpt-5.5" }] }) },
    google: { script: respondAsGoogle, settings: GOOGLE },
  });
  const list = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(gate.url + path, { headers })).json();
  const google = { models: [{ name: "models/gemini-2.5-flash" }] };
  const others = { object: "list", data: [{ id: "gpt-5.5" }] };
  assert.deepEqual(await list("/v1beta/models?pageSize=50"), google);
  assert.deepEqual(await list("/v1/models", { "x-goog-api-client": "google-genai-sdk/2.18.0" }), google);
  assert.deepEqual(await list("/v1/models"), others);
});

/** A list in Google's form. */
const models = (...names: string[]) => ({
  models: names.map((name) => ({ name: `models/${name}`, inputTokenLimit: 1e6 })),
});

test("a merged list in Google's form has the models that the group allows, of upstreams with that API", async (t) => {
  const rules = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["gemini-*"] } },
  });
  const { gate } = await startGateWithUpstreams(
    t,
    {
      one: { script: (_seen, res) => sendJson(res, models("gemini-a", "gemma-b")), settings: GOOGLE },
      two: {
        script: (_seen, res) => sendJson(res, models("gemini-a", "gemini-c")),
        settings: { ...GOOGLE, models: ["gemini-c"] },
      },
      three: { script: (_seen, res) => sendJson(res, { data: [{ id: "gemini-d" }] }) },
    },
    { config: rules },
  );
  assert.deepEqual(await (await fetch(`${gate.url}/v1beta/models`)).json(), models("gemini-a"));
});

test("refusals have Google's form for its paths and clients", async (t) => {
  const config: Partial<Config> = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["gemma*"] } },
  });
  const { gate } = await start(t, { config });
  const response = await post(gate, `${FLASH}:generateContent`, BODY);
  const { error } = (await response.json()) as { error: { code: number; status: string; message: string } };
  assert.equal(response.status, 400);
  assert.deepEqual([error.code, error.status], [400, "INVALID_ARGUMENT"]);
  assert.match(error.message, /^tollkeeper: .* Type: tollkeeper/);
  for (const path of ["/v1beta/models/x:unknownAction", "/v1beta/tunedModels", "/v1alpha/nothing"]) {
    const unknown = await post(gate, path, BODY);
    assert.equal(((await unknown.json()) as { error: { status: string } }).error.status, "NOT_FOUND", path);
  }
});

test("an upstream that does not name gemini has none of its routes", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage);
  const response = await post(gate, `${FLASH}:generateContent`, BODY);
  assert.equal(response.status, 404);
  assert.match(await response.text(), /\\"apis\\": \[\\"gemini\\"\]/);
  assert.equal(upstream.seen.length, 0);
});
