// C13, a path of Google's or Bedrock's API that names one model to tollkeeper and another to the upstream, or whose body names another: it is refused
// before anything leaves that the upstream could execute. And the key stands in one header alone.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, TEST_KEY } from "../helpers/gate/gate.ts";
import { respondAsBedrock } from "../helpers/upstream/bedrock-answers.ts";
import { respondAsGoogle } from "../helpers/upstream/gemini-answers.ts";

const RULES = rulesForTools({
  tools: { "*": { group: "small" } },
  groups: { small: { models: ["good*"] } },
});
const GOOD = "/v1beta/models/good:generateContent";

function start(t: TestContext, config: object = RULES) {
  return startGateWithUpstream(t, respondAsGoogle, { upstream: { apis: ["gemini"] }, config });
}

/** Paths in which some server on the way could find `evil`, or no model at all. */
const PATHS = [
  "/v1beta/models/evil:generateContent",
  "/v1beta/models/evil%3AgenerateContent",
  "/v1/models/evil:streamGenerateContent",
  "/v1beta/tunedModels/good:generateContent",
  "/v1beta1/projects/p/locations/l/endpoints/good:generateContent",
  "/v1beta1/publishers/google/models/evil:generateContent",
  "/v1beta/models/good/../evil:generateContent",
  "/v1beta/models/good%2F..%2Fevil:generateContent",
  "/v1beta/models/good%252Fevil:generateContent",
  "/v1beta/models/good:evil:generateContent",
  "/v1beta/models/good%3Aevil:generateContent",
  "/v1beta/models/good;evil:generateContent",
  "/v1beta/models/good%00evil:generateContent",
  "/v1beta/models/evil:generateContent:generateContent",
  "/v1beta/models/good/models/evil:generateContent",
  "/v1beta//models/evil:generateContent",
  "/v1beta/v1/models/evil:generateContent",
  "/v1beta/models/evil:GenerateContent",
  "/v1beta/models/good:batchGenerateContent",
  "/upload/v1beta/models/evil:generateContent",
  "/v1/projects/p/locations/l/publishers/anthropic/models/evil:rawPredict",
  "/v1/projects/p/locations/l/publishers/anthropic/models/good%3Aevil:rawPredict",
  "/v1/projects/p/locations/l/publishers/anthropic/models/good/models/evil:streamRawPredict",
  "/v1/projects/p/locations/l/publishers/google/models/good:rawPredict",
  "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
  "/v1beta/models/evil/operations/good",
] as const;

/** The same of Bedrock's. */
const BEDROCK_PATHS = [
  "/model/evil/converse",
  "/model/good%2Fevil/converse",
  "/model/good%252Fevil/converse",
  "/model/good%2F..%2Fevil/invoke",
  "/model/good/../evil/invoke",
  "/model/good;evil/invoke",
  "/model/good%00evil/invoke",
  "/model/good%3Fevil/invoke",
  "/model/good/invoke/model/evil/invoke",
  "/model//good/converse",
  "/v1/model/evil/converse-stream",
  "/model/arn:aws:bedrock:us-east-1::foundation-model/good/converse",
  "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Fgood/converse",
] as const;

/** Bodies for `good` that name another model where Google's API, or a gateway that speaks it, could read one. */
const BODIES: [action: string, body: string][] = [
  ["generateContent", '{"model":"evil","contents":[]}'],
  ["generateContent", '{"contents":[],"model":"models/evil"}'],
  ["generateContent", '{"contents":[],"mod\\u0065l":"models/evil"}'],
  ["generateContent", '{"contents":[],"Model":"models/good"}'],
  ["generateContent", '{"contents":[],"model":["models/good"]}'],
  ["generateContent", '{"contents":[],"extra_body":{"model":"good"}}'],
  ["generateContent", '{"contents":[]}{"model":"evil"}'],
  ["countTokens", '{"generateContentRequest":{"model":"models/evil","contents":[]}}'],
  ["batchEmbedContents", '{"requests":[{"model":"models/good"},{"model":"models/evil"}]}'],
  ["batchEmbedContents", '{"requests":[{"model":"models/evil"}]}'],
  ["batchEmbedContents", '{"requests":[{"model":"tunedModels/good"}]}'],
];

const BOTH = `{"requests":[{"model":"models/good"},{"model":"good"}]}`;

for (const path of PATHS) {
  test(`${path} reaches no upstream`, async (t) => {
    const { gate, upstream } = await start(t);
    const { status } = await exchangeRaw(
      t,
      gate.port,
      [`POST ${path} HTTP/1.1`, ...jsonHeaders(gate.port)],
      "{}",
    );
    assert.ok(status >= 400, String(status));
    assert.equal(upstream.sockets.size, 0);
  });
}

for (const path of BEDROCK_PATHS) {
  test(`${path} reaches no upstream`, async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, respondAsBedrock, {
      upstream: { apis: ["bedrock"] },
      config: RULES,
    });
    const lines = [`POST ${path} HTTP/1.1`, ...jsonHeaders(gate.port)];
    const { status } = await exchangeRaw(t, gate.port, lines, "{}");
    assert.ok(status >= 400, String(status));
    assert.equal(upstream.sockets.size, 0);
  });
}

for (const [action, body] of BODIES) {
  test(`:${action} with ${body} is refused before its end has left`, async (t) => {
    const { gate, upstream } = await start(t);
    const headers = { "content-type": "application/json" };
    const url = `${gate.url}/v1beta/models/good:${action}`;
    const response = await fetch(url, { method: "POST", headers, body });
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_unreadable", await response.text());
    assert.equal(upstream.seen.length, 0);
  });
}

test("the same holds where the model chooses the upstream, and where there is an alias", async (t) => {
  for (const [upstreamSettings, config] of [
    [{ models: ["good"] }, {}],
    [{}, { aliases: { other: "good" } }],
  ] as const) {
    const { gate, upstream } = await startGateWithUpstream(t, respondAsGoogle, {
      upstream: { apis: ["gemini"], models: null, ...("models" in upstreamSettings && { models: ["good"] }) },
      config,
    });
    const response = await post(gate, GOOD, { model: "models/evil" });
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_unreadable", await response.text());
    assert.equal(upstream.seen.length, 0);
  }
  const { gate, upstream } = await start(t, { aliases: { good: "better" } });
  const response = await post(gate, "/v1beta/models/good:batchEmbedContents", JSON.parse(BOTH));
  assert.match(await response.text(), /for which there is an alias/);
  assert.equal(upstream.seen.length, 0);
});

test("what repeats the path's model passes byte for byte; a model in the query and a compressed body do not", async (t) => {
  const { gate, upstream } = await start(t);
  await (await post(gate, "/v1beta/models/good:batchEmbedContents", JSON.parse(BOTH))).text();
  assert.equal(upstream.seen[0]?.body.toString(), BOTH);
  const deep = {
    tools: [{ functionDeclarations: [{ parameters: { properties: { model: { type: "STRING" } } } }] }],
  };
  assert.equal((await post(gate, GOOD, deep)).status, 200);
  const inQuery = await post(gate, `${GOOD}?model=evil`, {});
  assert.equal(inQuery.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  const compressed = await fetch(gate.url + GOOD, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync('{"model":"evil"}'),
  });
  assert.equal(compressed.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  assert.equal(upstream.seen.length, 2);
});

test("a model to which an alias leads is judged, and a cached content names its own", async (t) => {
  const aliases = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["good*"] } },
    aliases: { "good-looking": "evil", bad: "good-one" },
  });
  const { gate, upstream } = await start(t, aliases);
  const ask = async (path: string, body: object = {}) =>
    (await post(gate, path, body)).headers.get("x-tollkeeper-refusal");
  assert.equal(await ask("/v1beta/models/good-looking:generateContent"), "model_not_allowed");
  assert.equal(await ask("/v1beta/cachedContents", { model: "models/evil" }), "model_not_allowed");
  assert.equal(await ask("/v1beta/cachedContents", {}), "model_unreadable");
  assert.equal(upstream.seen.length, 0);
  assert.equal(await ask("/v1beta/models/bad:generateContent"), null);
  assert.equal(await ask("/v1beta/cachedContents", { model: "models/good" }), null);
  assert.equal(upstream.seen.length, 2);
});

test("exactly one x-goog-api-key reaches the upstream, ours, whatever the client puts where", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondAsGoogle, {
    upstream: { apis: ["gemini"] },
  });
  const { status } = await exchangeRaw(
    t,
    gate.port,
    [
      `POST ${GOOD}?key=client-key-1&alt=sse&%6Bey=client-key-2&$key=client-key-3 HTTP/1.1`,
      ...jsonHeaders(gate.port),
      "x-goog-api-key: client-key-4",
      "X-Goog-Api-Key: client-key-5",
      "x_goog_api_key: client-key-6",
      "Authorization: Bearer client-key-7",
    ],
    "{}",
  );
  assert.equal(status, 200);
  const [seen] = upstream.seen;
  assert.equal(seen?.url, `${GOOD}?alt=sse`);
  assert.doesNotMatch(JSON.stringify(seen), /client-key/);
  const keys = seen?.rawHeaders.filter((_, at, all) => all[at - 1]?.toLowerCase() === "x-goog-api-key");
  assert.deepEqual(keys, [TEST_KEY]);
  assert.doesNotMatch(JSON.stringify(await gate.ledger.only()), /client-key/);
});
