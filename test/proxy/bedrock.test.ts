// Amazon Bedrock with an API key: the model in the path, streams of binary frames. With real sockets, before an upstream that responds as
// AWS's documents say.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams } from "../helpers/gate/gate-with-upstreams.ts";
import { post, TEST_KEY, type GateOptions } from "../helpers/gate/gate.ts";
import { CHUNK_FRAMES, CONVERSE_FRAMES, respondAsBedrock } from "../helpers/upstream/bedrock-answers.ts";
import { exceptionFrame, EVENT_STREAM_TYPE } from "../helpers/upstream/bedrock-frames.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const PROFILE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const MODEL = `/model/${encodeURIComponent(PROFILE)}`;
const BODY = { messages: [{ role: "user", content: [{ text: "good morning" }] }] };
const BEDROCK = { apis: ["bedrock" as const] };

function start(t: TestContext, script: Script = respondAsBedrock, options: GateOptions = {}) {
  return startGateWithUpstream(t, script, { ...options, upstream: { ...BEDROCK, ...options.upstream } });
}

test("each way of asking a model passes as it is, with the key, and counts", async (t) => {
  const { gate, upstream } = await start(t);
  const signed = {
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/us-east-1/bedrock/aws4_request, Signature=0",
    "x-amz-security-token": "dummy-token",
  };
  for (const action of ["converse", "converse-stream", "invoke", "invoke-with-response-stream"])
    assert.equal((await post(gate, `${MODEL}/${action}`, BODY, signed)).status, 200, action);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ["converse", "converse-stream", "invoke", "invoke-with-response-stream"].map((one) => `${MODEL}/${one}`),
  );
  for (const { headers, body } of upstream.seen) {
    assert.equal(headers.authorization, `Bearer ${TEST_KEY}`);
    assert.equal(headers["x-amz-security-token"], undefined);
    assert.equal(body.toString(), JSON.stringify(BODY));
  }
  for (const record of gate.ledger.records) {
    const { tokens } = record;
    assert.deepEqual(
      [tokens?.input_uncached, tokens?.cache_read, tokens?.cache_write, tokens?.output],
      [9, 4, 2, 7],
    );
    assert.deepEqual([record.usage, record.spend, record.model_requested], ["final", "count", PROFILE]);
  }
  assert.deepEqual(
    gate.ledger.records.map(({ route, stream, model }) => [route, stream, model]),
    [
      ["/model/{id}/converse", false, null],
      ["/model/{id}/converse-stream", true, null],
      ["/model/{id}/invoke", false, PROFILE],
      ["/model/{id}/invoke-with-response-stream", true, PROFILE],
    ],
  );
});

test("frames reach the client byte for byte, and so does an exception among them", async (t) => {
  const end = exceptionFrame("modelStreamErrorException");
  const frames = { "/a": CONVERSE_FRAMES, "/b": CHUNK_FRAMES, "/c": [...CONVERSE_FRAMES.slice(0, 2), end] };
  const { gate } = await start(t, ({ url }, res) => {
    const name = url.startsWith("/model/c") ? "/c" : url.endsWith("converse-stream") ? "/a" : "/b";
    res.writeHead(200, { "content-type": EVENT_STREAM_TYPE });
    for (const one of frames[name]) res.write(one);
    res.end();
  });
  for (const [path, sent] of [
    ["/model/a/converse-stream", frames["/a"]],
    ["/t/zed/model/b/invoke-with-response-stream", frames["/b"]],
    ["/v1/model/c/converse-stream", frames["/c"]],
  ] as const) {
    const response = await post(gate, path, BODY);
    assert.equal(response.headers.get("content-type"), EVENT_STREAM_TYPE);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.concat(sent));
  }
  const [, named, failed] = gate.ledger.records;
  assert.equal(named?.tool, "zed");
  assert.deepEqual([failed?.outcome, failed?.error_type], ["error", "modelStreamErrorException"]);
});

test("a count of tokens never spends, and what is no model's has no route", async (t) => {
  const { gate, upstream } = await start(t);
  assert.equal((await post(gate, `${MODEL}/count-tokens`, { input: {} })).status, 200);
  assert.deepEqual([gate.ledger.records[0]?.usage, gate.ledger.records[0]?.spend], ["none", "never"]);
  for (const path of [
    "/guardrail/g/version/1/apply",
    "/async-invoke",
    `${MODEL}/invoke-with-bidirectional-stream`,
    "/v1/models",
    "/v1/messages",
  ])
    assert.equal((await post(gate, path, BODY)).status, 404, path);
  const guardrail = await post(gate, "/guardrail/g/version/1/apply", BODY);
  assert.match(
    await guardrail.text(),
    /^\{"__type":"ResourceNotFoundException",.*guardrails are not forwarded/,
  );
  assert.equal(upstream.seen.length, 1);
});

test("a group and an alias take the model from the path, and refusals have Bedrock's shape", async (t) => {
  const config = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["*anthropic.claude-haiku*"] } },
    aliases: { fast: "us.anthropic.claude-haiku-4-5-20251001-v1:0" },
  });
  const { gate, upstream } = await start(t, respondAsBedrock, { config });
  const refused = await post(gate, `${MODEL}/converse`, BODY);
  assert.deepEqual([refused.status, refused.headers.get("x-tollkeeper-refusal")], [402, "model_not_allowed"]);
  const { __type: type, message } = (await refused.json()) as Record<string, string>;
  assert.equal(type, "ValidationException");
  assert.match(message ?? "", /^tollkeeper: /);
  for (const body of [
    { ...BODY, model: PROFILE },
    { ...BODY, additionalModelRequestFields: { model: "anthropic.claude-opus-4-1-20250805-v1:0" } },
    { ...BODY, tools: [{ type: "advisor_20260301", name: "a", model: "claude-opus-4-5" }] },
  ]) {
    const named = await post(gate, "/model/fast/invoke", body);
    assert.equal(named.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  }
  assert.equal(upstream.seen.length, 0);
  const meta = { ...BODY, requestMetadata: { team: "a" }, inferenceConfig: { maxTokens: 5 } };
  assert.equal((await post(gate, "/model/fast/converse", meta)).status, 200);
  assert.equal(upstream.seen[0]?.url, "/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse");
  const record = gate.ledger.records.at(-1);
  assert.deepEqual([record?.model_requested, record?.route], ["fast", "/model/{id}/converse"]);
});

test("the model in the path chooses the upstream", async (t) => {
  const bedrock = { script: respondAsBedrock, settings: BEDROCK };
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    claude: { ...bedrock, settings: { ...BEDROCK, models: ["*claude*"] } },
    others: bedrock,
  });
  const nova = "/model/amazon.nova-lite-v1:0/converse";
  for (const path of [nova, `${MODEL}/converse`]) assert.equal((await post(gate, path, BODY)).status, 200);
  assert.deepEqual(
    [upstreams.others, upstreams.claude].map(({ seen }) => seen.map(({ url }) => url)),
    [[nova], [`${MODEL}/converse`]],
  );
});

test("what a model is invoked with may come without a type of its own, but from no page", async (t) => {
  const { gate, upstream } = await start(t);
  const octets = { "content-type": "application/octet-stream" };
  assert.equal((await post(gate, `${MODEL}/invoke`, BODY, octets)).status, 200);
  const page = await post(gate, `${MODEL}/invoke`, BODY, { ...octets, origin: gate.url });
  assert.equal(page.headers.get("x-tollkeeper-refusal"), "origin_not_allowed");
  assert.equal((await post(gate, `${MODEL}/converse`, BODY, octets)).status, 415);
  assert.equal((await post(gate, `${MODEL}/invoke`, BODY, { "content-type": "text/plain" })).status, 415);
  assert.equal(upstream.seen.length, 1);
});

test("an error of Bedrock's is recorded by the name in its header", async (t) => {
  const { gate } = await start(t, (_seen, res) => {
    res.setHeader("x-amzn-errortype", "ThrottlingException:http://internal.amazon.com/coral/");
    sendJson(res, { message: "Too many tokens" }, 429);
  });
  assert.equal((await post(gate, `${MODEL}/converse`, BODY)).status, 429);
  const [record] = gate.ledger.records;
  assert.deepEqual([record?.outcome, record?.error_type], ["error", "ThrottlingException"]);
});
