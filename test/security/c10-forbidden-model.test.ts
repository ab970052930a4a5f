// C10, a tool that wants a model outside its group: it is refused before anything leaves that the upstream could execute, however the
// body names the model, and where "access" requires tokens, the token says which group counts.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { beginRequest, rawClient } from "../helpers/client/raw-client.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { post, withLimits, type GateOptions } from "../helpers/gate/gate.ts";
import { MemoryTokens } from "../helpers/gate/memory.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { chunksOf, describe, EARLY, LATE } from "./smuggled-models.ts";

const FILE = {
  tools: { codex: { group: "small" }, zed: { group: "free" }, "*": { group: "small" } },
  groups: { small: { models: ["good*"] }, free: {} },
};
const RULES = rulesForTools(FILE);

/** To a model that the group forbids, and away from one. */
const ALIASES = rulesForTools({ ...FILE, aliases: { "good-looking": "evil", bad: "good-one" } });

const TOKENS = { access: { mode: "token", peerUid: [] } } satisfies GateOptions["config"];

/** Queries in which some server finds a model: some split at `;` or a second `?`, and gateways decode twice. */
const MODELS_IN_QUERIES = [
  "?model=evil",
  "?MODEL=evil",
  "?a=b&%6dodel=evil",
  "?models[]=evil",
  "?model",
  "?a=1;model=evil",
  "?a=1?model=evil",
  "?a=1%26model=evil",
  "?a=1%3Bmodel=evil",
  "?a=1%2526model=evil",
  "?%256Dodel=evil",
  "?+model=evil",
  "?model%00=evil",
  "?m%0Aodel=evil",
  "?model.name=evil",
  "?fallbacks=evil",
  "?extra_body[model]=evil",
];

/** A gate that demands tokens, one for codex, whose group allows `good*`, and one for zed, which is free. */
async function start(t: TestContext, config: GateOptions["config"] = {}) {
  const tokens = new MemoryTokens();
  const [codex, zed] = [tokens.add("codex"), tokens.add("zed")];
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, {
    tokens,
    config: { ...RULES, ...TOKENS, ...config },
  });
  const ask = async (token: string, body: unknown, path = "/v1/messages", headers = {}) => {
    const response = await post(gate, path, body, { "x-api-key": token, ...headers });
    await response.text();
    return response.headers.get("x-tollkeeper-refusal") ?? response.status;
  };
  return { gate, upstream, codex, zed, ask };
}

test("the token decides, whatever else the request says about its tool", async (t) => {
  const { ask, codex, zed, upstream, gate } = await start(t);
  const evil = { model: "evil" };
  assert.equal(await ask(codex, evil), "model_not_allowed");
  assert.equal(await ask(codex, evil, "/t/zed/v1/messages"), "model_not_allowed");
  assert.equal(await ask(codex, evil, "/v1/messages", { "x-tollkeeper-tool": "zed" }), "model_not_allowed");
  assert.equal(
    await ask(codex, evil, "/v1/messages", { authorization: "Bearer tk-zed" }),
    "model_not_allowed",
  );
  assert.equal(upstream.sockets.size + gate.keys.reads, 0);
  assert.equal(await ask(zed, evil, "/t/codex/v1/messages"), 200);
  assert.equal(await ask(codex, { model: "good" }), 200);
});

test("a model that only some services would read, from the query or beside the body's own, is refused", async (t) => {
  const { ask, codex, zed, upstream, gate } = await start(t);
  for (const query of MODELS_IN_QUERIES)
    assert.equal(await ask(codex, { model: "good" }, `/v1/messages${query}`), "model_unreadable", query);
  assert.equal(upstream.sockets.size + gate.keys.reads, 0);
  assert.equal(await ask(codex, { extra_body: { model: "evil" }, model: "good" }), "model_unreadable");
  assert.equal(upstream.sockets.size + gate.keys.reads, 0);
  for (const query of ["?beta=true", "?model_info=x", "?a=model", "?a=%3Dmodel", "?remodel=evil"])
    assert.equal(await ask(codex, { model: "good" }, `/v1/messages${query}`), 200, query);
  assert.equal(await ask(zed, { model: "good" }, "/v1/messages?model=evil"), 200);
});

test("the token of an unknown tool has the group of all others", async (t) => {
  const tokens = new MemoryTokens();
  const other = tokens.add("made-up");
  const { gate } = await startGateWithUpstream(t, respondWithMessage, {
    tokens,
    config: { ...RULES, ...TOKENS },
  });
  const response = await post(gate, "/v1/messages", { model: "evil" }, { "x-api-key": other });
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_not_allowed");
});

for (const [path, model, result] of [
  ["/v1/messages", "evil", "model_not_allowed"],
  ["/v1/messages?beta=true", "evil", "model_not_allowed"],
  ["/messages", "evil", "model_not_allowed"],
  ["/v1/v1/messages", "evil", "model_not_allowed"],
  ["/v1/messages/count_tokens", "evil", "model_not_allowed"],
  ["/v1/responses", "evil", "model_not_allowed"],
  ["/v1/embeddings", "evil", "model_not_allowed"],
  ["/v1/messages", "good", 200],
  ["/v1/messages", "Good", "model_not_allowed"],
  ["/v1/messages", "evil good", "model_not_allowed"],
  ["/v1/messages", ["good"], "model_unreadable"],
  ["/v1/messages", null, "model_unreadable"],
  ["/v1/messages", undefined, "model_unreadable"],
  ["/v1/messages", "", "model_unreadable"],
] as const) {
  test(`POST ${path} for ${JSON.stringify(model)} gets ${result}`, async (t) => {
    const { ask, codex, upstream } = await start(t);
    assert.equal(await ask(codex, { model }, path), result);
    assert.equal(upstream.seen.length, result === 200 ? 1 : 0);
  });
}

test("the model that counts is the one that an alias stands for", async (t) => {
  const { ask, codex, upstream } = await start(t, ALIASES);
  assert.equal(await ask(codex, { model: "good-looking" }), "model_not_allowed");
  assert.equal(upstream.sockets.size, 0);
  assert.equal(await ask(codex, { model: "bad" }), 200);
});

for (const body of [
  { model: "good", models: ["evil"] },
  { models: ["evil"], model: "good" },
  { model: "good", fallbacks: [{ model: "evil" }] },
  { model: "good", input: "x".repeat(70_000), Models: ["evil"] },
  { model: "good", context_window_fallbacks: [{ good: ["evil"] }] },
]) {
  const members = Object.keys(body).join(", ");
  test(`a body that lets the service choose from further models (${members}) is refused`, async (t) => {
    const { ask, codex, upstream } = await start(t);
    assert.equal(await ask(codex, body), "model_unreadable");
    assert.equal(upstream.seen.length, 0);
  });
}

/** Each names a second model, in a place from which a service takes one. */
const OTHER_MODELS: [what: string, body: (model: unknown) => object][] = [
  ["Anthropic's advisor", (model) => ({ tools: [{ type: "advisor_20260301", name: "advisor", model }] })],
  [
    "a tool behind others",
    (model) => ({
      tools: [
        { name: "a", input_schema: {} },
        { type: "x", model },
      ],
    }),
  ],
  ["image generation", (model) => ({ tools: [{ type: "image_generation", model }] })],
  ["OpenRouter's advisor", (model) => ({ tools: [{ type: "openrouter:advisor", parameters: { model } }] })],
  [
    "a tool of OpenRouter's advisor",
    (model) => ({ tools: [{ type: "x", parameters: { tools: [{ type: "y", parameters: { model } }] } }] }),
  ],
  ["a namespace of tools", (model) => ({ tools: [{ type: "namespace", tools: [{ type: "x", model }] }] })],
  ["tools that are no list", (model) => ({ tools: { advisor: { model } } })],
  ["OpenRouter's fusion", (model) => ({ plugins: [{ id: "fusion", model }] })],
  ["tools of a second list", (model) => ({ tools: [], Tools: [{ model }] })],
];

for (const [what, bodyWith] of OTHER_MODELS) {
  test(`the model that ${what} names is judged, before and behind the request's own`, async (t) => {
    const { ask, codex, zed, upstream, gate } = await start(t);
    const evil = bodyWith("evil");
    assert.equal(await ask(codex, { ...evil, model: "good" }), "model_unreadable");
    assert.equal(upstream.sockets.size + gate.keys.reads, 0);
    for (const body of [
      { model: "good", ...evil },
      { model: "good", input: "x".repeat(70_000), ...evil },
    ])
      assert.equal(await ask(codex, body), "model_unreadable");
    assert.equal(await ask(codex, { model: "good", ...bodyWith(["evil"]) }), "model_unreadable");
    assert.equal(upstream.seen.length, 0);
    for (const model of ["good-2", null])
      assert.equal(await ask(codex, { model: "good", ...bodyWith(model) }), 200);
    assert.equal(await ask(zed, { model: "good", ...evil }), 200);
  });
}

for (const body of [
  { tools: [{ type: "openrouter:fusion", parameters: { analysis_models: ["evil"] } }] },
  { plugins: [{ id: "auto-router", allowed_models: ["evil"] }] },
  { providerOptions: { gateway: { models: ["evil"] } } },
  { provider_options: { gateway: { models: ["evil"] } } },
  { tools: [{ type: "x", Model: "evil" }] },
  { tools: [{ type: "x", "mo\0del": "evil" }] },
]) {
  test(`${JSON.stringify(body)} is refused where a group names models`, async (t) => {
    const { ask, codex, upstream } = await start(t);
    assert.equal(await ask(codex, { model: "good", ...body }), "model_unreadable");
    assert.equal(upstream.seen.length, 0);
  });
}

test("a property of a tool's parameters, and what a conversation says, may be called model", async (t) => {
  const { ask, codex } = await start(t);
  const schema = { type: "object", properties: { model: { type: "string" }, models: { type: "array" } } };
  for (const body of [
    { tools: [{ name: "a", input_schema: schema }] },
    { tools: [{ type: "function", name: "a", parameters: schema }] },
    { tools: [{ type: "function", function: { name: "a", parameters: schema } }] },
    { tools: [{ type: "namespace", tools: [{ type: "function", name: "a", parameters: schema }] }] },
    { tools: [], messages: [{ role: "user", content: [{ type: "tool_use", input: { model: "evil" } }] }] },
    { tools: [], metadata: { model: "evil" }, input: [{ model: "evil" }] },
  ])
    assert.equal(await ask(codex, { model: "good", ...body }), 200, JSON.stringify(body));
});

test("the model may stand behind a body of any length, and is read before anything leaves", async (t) => {
  const { ask, codex, upstream } = await start(t);
  const long = "x".repeat(3 * 1024 * 1024);
  assert.equal(await ask(codex, { input: long, model: "evil" }), "model_not_allowed");
  assert.equal(upstream.sockets.size, 0);
  assert.equal(await ask(codex, { input: long, model: "good" }), 200);
});

test("a model behind more than the longest body is refused", async (t) => {
  const { ask, codex, upstream } = await start(t, withLimits({ bodyBytes: 10_000 }).config);
  assert.equal(await ask(codex, { input: "x".repeat(20_000), model: "good" }), "body_too_large");
  assert.equal(upstream.sockets.size, 0);
});

test("a compressed body, whose model cannot be read, is refused", async (t) => {
  const { gate, codex, upstream } = await start(t);
  const response = await fetch(`${gate.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip", "x-api-key": codex },
    body: gzipSync('{"model":"good"}'),
  });
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  assert.equal(upstream.sockets.size, 0);
});

test("no upstream gets a forbidden model, neither the first nor its fallback", async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    main: { script: (_seen, res) => res.writeHead(503).end(), settings: { fallback: ["spare"] } },
    spare: { script: respondWithMessage },
  });
  useConfig(gate, ALIASES);
  for (const model of ["evil", "good-looking"])
    assert.equal((await post(gate, "/t/codex/v1/messages", { model })).status, 402);
  assert.deepEqual([upstreams.main.seen.length, upstreams.spare.seen.length], [0, 0]);
});

for (const smuggled of [...EARLY, ...LATE]) {
  test(`${describe(smuggled)} is refused where a group allows only good*`, async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, { config: RULES });
    const { contentType = "application/json", contentEncoding } = smuggled;
    const chunks = chunksOf(smuggled);
    const coding = contentEncoding === undefined ? "" : `\r\nContent-Encoding: ${contentEncoding}`;
    const client = await rawClient(t, gate.port);
    const head = beginRequest(gate.port, `Transfer-Encoding: chunked${coding}`);
    client.write(head.replace("application/json", contentType));
    for (const chunk of chunks) {
      client.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    }
    client.write("0\r\n\r\n");
    const response = await client.until(/\r\n\r\n[^]*\}$/);
    assert.match(response, /^HTTP\/1\.1 400 [^]*x-tollkeeper-refusal: model_unreadable/i);
    assert.equal(upstream.seen.length, 0, "a whole request has left");
  });
}

test("a form with files is refused where a group names models, whatever stands in it", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, respondWithMessage, { config: RULES });
  const form = `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\ngood\r\n--b--\r\n`;
  for (const body of [form, '{"model":"good"}']) {
    const response = await fetch(`${gate.url}/t/codex/v1/audio/transcriptions`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=b" },
      body,
    });
    await response.text();
    assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  }
  assert.equal(upstream.seen.length, 0);
});

test("while access is open, a tool's name is only what it says: its group binds nobody", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { config: RULES });
  const statusOf = async (path: string) => (await post(gate, path, { model: "evil" })).status;
  assert.deepEqual(
    [await statusOf("/t/codex/v1/messages"), await statusOf("/t/zed/v1/messages")],
    [402, 200],
  );
});
