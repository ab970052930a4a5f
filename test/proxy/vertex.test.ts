// Vertex: Gemini and Claude in a project, with a token in Authorization. Claude speaks the Messages API, with its model in the path. With real
// sockets, before a scripted upstream and before the sandbox.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createUpstream, defaultConfig } from "../../src/core/config/config.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { fetchModels } from "../../src/proxy/upstream/fetch-models.ts";
import { modelsPath } from "../../src/proxy/upstream/request-models.ts";
import { openSandbox } from "../sandbox/sandbox-client.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, startGate, TEST_KEY, type GateOptions } from "../helpers/gate/gate.ts";
import { respondAsGoogle } from "../helpers/upstream/gemini-answers.ts";
import { sendJson, startUpstream, type Script } from "../helpers/upstream/scripted-upstream.ts";

const PROJECT = "/v1/projects/p-1/locations/europe-west1/publishers";
const CLAUDE = `${PROJECT}/anthropic/models/claude-sonnet-4-5@20250929`;
const COUNT = `${PROJECT}/anthropic/models/count-tokens:rawPredict`;
const VERSION = { anthropic_version: "vertex-2023-10-16" };
const BODY = { ...VERSION, max_tokens: 64, messages: [{ role: "user", content: "good morning" }] };
const VERTEX = { apis: ["gemini" as const], auth: "bearer" as const };

const respondAsClaude: Script = (_seen, res) =>
  sendJson(res, {
    id: "msg_vrtx_1",
    type: "message",
    model: "claude-sonnet-4-5-20250929",
    stop_reason: "end_turn",
    usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 3 },
  });

function start(t: TestContext, script: Script, options: GateOptions = {}) {
  return startGateWithUpstream(t, script, { ...options, upstream: { ...VERTEX, ...options.upstream } });
}

test("Claude at Vertex is asked as it is, with the token and without a version header, and counts as the Messages API", async (t) => {
  const { gate, upstream } = await start(t, respondAsClaude);
  for (const path of [`${CLAUDE}:rawPredict`, `/t/zed${CLAUDE}:streamRawPredict`])
    assert.equal((await post(gate, path, BODY, { "x-goog-api-key": "dummy" })).status, 200);
  const [first, second] = upstream.seen;
  assert.deepEqual([first?.url, second?.url], [`${CLAUDE}:rawPredict`, `${CLAUDE}:streamRawPredict`]);
  assert.equal(first?.headers.authorization, `Bearer ${TEST_KEY}`);
  assert.deepEqual(
    [first.headers["x-goog-api-key"], first.headers["anthropic-version"]],
    [undefined, undefined],
  );
  assert.equal(first.body.toString(), JSON.stringify(BODY));
  const [record, streamed] = gate.ledger.records;
  assert.deepEqual(
    [record?.route, record?.usage, record?.spend, record?.response_id, record?.stream],
    ["/v1beta/models/{id}:rawPredict", "final", "count", "msg_vrtx_1", false],
  );
  assert.deepEqual(
    [record?.tokens?.input_uncached, record?.tokens?.cache_read, record?.tokens?.output],
    [9, 4, 3],
  );
  assert.deepEqual(
    [record?.model_requested, streamed?.route, streamed?.stream, streamed?.tool],
    ["claude-sonnet-4-5@20250929", "/v1beta/models/{id}:streamRawPredict", true, "zed"],
  );
});

test("a project's Gemini gets the token, and all its versions of a path have one route", async (t) => {
  const { gate, upstream } = await start(t, respondAsGoogle);
  for (const path of [
    `${PROJECT}/google/models/gemini-2.5-flash:generateContent`,
    "/v1beta1/projects/example.com:p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent",
  ])
    assert.equal((await post(gate, path, { contents: [] })).status, 200);
  assert.deepEqual(
    upstream.seen.map(({ headers }) => headers.authorization),
    Array.from({ length: 2 }, () => `Bearer ${TEST_KEY}`),
  );
  assert.deepEqual(
    gate.ledger.records.map(({ route, usage }) => `${route} ${usage}`),
    Array.from({ length: 2 }, () => "/v1beta/models/{id}:generateContent final"),
  );
});

test("tokens are counted for the model in the body, which a group judges; the count never spends", async (t) => {
  const config = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["claude-*"] } },
    aliases: { fast: "claude-haiku-4-5" },
  });
  const { gate, upstream } = await start(t, (_seen, res) => sendJson(res, { input_tokens: 9 }), { config });
  const ask = async (model: object) =>
    (await post(gate, COUNT, { ...VERSION, ...model, messages: [] })).headers.get("x-tollkeeper-refusal");
  assert.equal(await ask({ model: "gemini-2.5-pro" }), "model_not_allowed");
  assert.equal(await ask({}), "model_unreadable");
  assert.equal(upstream.seen.length, 0);
  assert.equal(await ask({ model: "claude-sonnet-4-5" }), null);
  assert.equal(await ask({ model: "fast" }), null);
  assert.match(upstream.seen[1]?.body.toString() ?? "", /"model":"claude-haiku-4-5"/);
  const record = gate.ledger.records.at(-1);
  assert.deepEqual([record?.route, record?.usage], ["/v1beta/models/count-tokens:rawPredict", "none"]);
});

test("a group and an alias take Claude's model from the path, and refusals have the shape of the Messages API", async (t) => {
  const config = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["claude-haiku*"] } },
    aliases: { fast: "claude-haiku-4-5@20251001" },
  });
  const { gate, upstream } = await start(t, respondAsClaude, { config });
  const refused = await post(gate, `${CLAUDE}:rawPredict`, BODY);
  assert.equal(refused.headers.get("x-tollkeeper-refusal"), "model_not_allowed");
  assert.equal(((await refused.json()) as { type: string }).type, "error");
  const fast = `${PROJECT}/anthropic/models/fast:rawPredict`;
  const named = await post(gate, fast, { ...BODY, model: "claude-opus-4-5" });
  assert.equal(named.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  // A tool's model is judged by the group, and is no second model of the request.
  const tools = (model: string) => ({ ...BODY, tools: [{ type: "advisor_20260301", name: "a", model }] });
  const advised = await post(gate, fast, tools("claude-opus-4-5"));
  assert.equal(advised.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  assert.equal(upstream.seen.length, 0);
  assert.equal((await post(gate, fast, tools("claude-haiku-4-5"))).status, 200);
  assert.equal(upstream.seen[0]?.url, `${PROJECT}/anthropic/models/claude-haiku-4-5@20251001:rawPredict`);
  const unknown = await post(gate, `${PROJECT}/anthropic/models/a:b:rawPredict`, BODY);
  assert.equal(unknown.status, 404);
  assert.equal(((await unknown.json()) as { type: string }).type, "error");
});

test("what Vertex passes on is known of Anthropic's models only", async (t) => {
  const { gate, upstream } = await start(t, respondAsClaude);
  for (const path of [
    `${PROJECT}/mistralai/models/mistral-medium-3:rawPredict`,
    `${PROJECT}/google/models/claude-sonnet-4-5:rawPredict`,
    `/v1/projects/p/locations/l/endpoints/1:rawPredict`,
    "/v1/models/claude-sonnet-4-5:rawPredict",
    `${PROJECT}/anthropic/models/count-tokens:streamRawPredict`,
    `${PROJECT}/anthropic/models/count%2Dtokens%2Fx:rawPredict`,
    `${PROJECT}/anthropic/models/claude%2F..%2Fx:rawPredict`,
    `${CLAUDE}:rawPredict/operations/1`,
  ])
    assert.equal((await post(gate, path, BODY)).status, 404, path);
  assert.equal(upstream.seen.length, 0);
});

test("Claude at Vertex in the sandbox: a document and a stream are recorded as they are billed", async (t) => {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl, { upstream: VERTEX });
  gate.keys.set({ name: gate.upstream.key, origin: gate.upstream.origin }, sandbox.keys[0]?.secret ?? "");
  const model = `${PROJECT}/anthropic/models/claude-sonnet-5`;
  const whole = await (await post(gate, `${model}:rawPredict`, BODY)).text();
  assert.match(whole, /You said: good morning/);
  const stream = await (await post(gate, `${model}:streamRawPredict`, { ...BODY, stream: true })).text();
  assert.match(stream, /^event: message_start\ndata: /);
  const count = await post(gate, COUNT, { ...BODY, model: "claude-sonnet-5" });
  assert.match(await count.text(), /"input_tokens":\d+/);
  const wrong = await post(gate, `${model}:rawPredict`, { ...BODY, anthropic_version: undefined });
  assert.match(await wrong.text(), /^\{"type":"error"/);
  const billed = sandbox.counts().reduce((sum, { count: one }) => sum + one.input_uncached + one.output, 0);
  const recorded = gate.ledger.records.reduce((sum, { tokens }) => sum + (tokens?.total ?? 0), 0);
  assert.deepEqual([recorded, billed > 0], [billed, true]);
});

const listAt = (origin: string) => modelsPath(createUpstream("v", `${origin}/v1`), true);

test("a key is tried at Vertex's list of Google's models, which has a name of its own", async (t) => {
  for (const host of ["aiplatform", "europe-west1-aiplatform", "aiplatform.eu.rep", "aiplatform.us.rep"])
    assert.equal(listAt(`https://${host}.googleapis.com`), "/v1beta1/publishers/google/models");
  for (const host of [
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com.example",
    "xaiplatform.googleapis.com",
  ])
    assert.equal(listAt(`https://${host}`), "/v1beta/models");
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { publisherModels: [{}, {}] }));
  const google = { ...createUpstream("v", upstream.baseUrl), ...VERTEX };
  assert.equal((await fetchModels(google, new Secret(TEST_KEY), defaultConfig.outbound)).models, 2);
  assert.equal(upstream.seen[0]?.headers.authorization, `Bearer ${TEST_KEY}`);
});

test("where that list is missing, a base URL with a version is not called wrong", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}, 404));
  const google = { ...createUpstream("v", upstream.baseUrl), ...VERTEX };
  await assert.rejects(fetchModels(google, new Secret(TEST_KEY), defaultConfig.outbound), {
    code: "undecided",
    likelyBaseUrl: null,
  });
});

test("the list of a publisher's models is free", async (t) => {
  const { gate, upstream } = await start(t, (_seen, res) => sendJson(res, { publisherModels: [] }));
  for (const path of ["/v1beta1/publishers/google/models?pageSize=10", "/v1/publishers/anthropic/models"])
    assert.equal((await fetch(gate.url + path)).status, 200);
  assert.equal((await fetch(`${gate.url}/v1beta1/publishers/a%2Fb/models`)).status, 404);
  assert.equal(upstream.seen.length, 2);
  assert.deepEqual(
    gate.ledger.records.map(({ route, usage }) => `${route} ${usage}`),
    Array.from({ length: 2 }, () => "/v1beta/publishers/{id}/models none"),
  );
});
