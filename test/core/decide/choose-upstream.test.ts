import { toolSettings } from "../../helpers/config/tool-settings.ts";
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import type { Config, Upstream } from "../../../src/core/config/config.ts";
import type { UnrecordedRefusal } from "../../../src/core/refusals/refusal.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { post, startGate, upstreamAt } from "../../helpers/gate/gate.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

/** Three upstreams, each with a key of its own: for Messages, for Responses, and one for some models of both. */
async function startWithThree(
  t: TestContext,
  changes: Record<string, Partial<Upstream>> = {},
  tools: Config["tools"] = {},
) {
  const refusals: UnrecordedRefusal[] = [];
  const upstreams = await Promise.all(
    ["local", "anthropic", "openai"].map(async (name) => {
      const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { id: name, served_by: name }));
      return [name, upstream] as const;
    }),
  );
  const settings: Record<string, Partial<Upstream>> = {
    local: { auth: "none", keySource: { kind: "none" }, models: ["qwen*", "llama*"] },
    anthropic: { apis: ["messages"] },
    openai: { apis: ["responses"], auth: "bearer" },
  };
  const gate = await startGate(t, "http://127.0.0.1:9/v1", {
    onUnrecorded: (refusal) => refusals.push(refusal),
  });
  const configured = upstreams.map(([name, { baseUrl }]): [string, Upstream] => {
    return [name, upstreamAt(baseUrl, { name, ...settings[name], ...changes[name] })];
  });
  for (const [name, { origin }] of configured) gate.keys.set({ name: "default", origin }, `sk-${name}-4711`);
  gate.gate.use(
    prepareSettings({ ...gate.gate.settings.config, tools, upstreams: Object.fromEntries(configured) }),
  );
  return { gate, refusals, upstreams: Object.fromEntries(upstreams) };
}

const servedBy = async (response: Response) =>
  response.status === 200 ? ((await response.json()) as { served_by: string }).served_by : response.status;

for (const [path, model, expected] of [
  ["/v1/messages", "qwen3-coder", "local"],
  ["/v1/responses", "llama3.2", "local"],
  ["/v1/messages", "claude-sonnet-5", "anthropic"],
  ["/v1/messages/count_tokens", "claude-sonnet-5", "anthropic"],
  ["/v1/responses", "gpt-5", "openai"],
  ["/t/zed/v1/responses", "gpt-5", "openai"],
] as const) {
  test(`${path} for ${model} goes to ${expected}, with no key but its own`, async (t) => {
    const { gate, upstreams } = await startWithThree(t);
    assert.equal(await servedBy(await post(gate, path, { model })), expected);
    const headers = upstreams[expected]?.seen[0]?.rawHeaders.join("\n") ?? "";
    const keys = headers.match(/sk-\w+-4711/g) ?? [];
    assert.deepEqual(keys, expected === "local" ? [] : [`sk-${expected}-4711`]);
    const record = await gate.ledger.only();
    assert.deepEqual([record.upstream, record.model_requested], [expected, model]);
    for (const [name, { seen }] of Object.entries(upstreams))
      assert.equal(seen.length, name === expected ? 1 : 0);
  });
}

test("a tool goes only to the upstreams that it may use, and the order is that of the file", async (t) => {
  const tools = {
    zed: toolSettings({ upstreams: ["openai", "local"] }),
    pi: toolSettings({ upstreams: ["anthropic"] }),
  };
  const { gate, refusals } = await startWithThree(t, {}, tools);
  assert.equal(await servedBy(await post(gate, "/t/zed/v1/responses", { model: "llama3" })), "local");
  assert.equal(await servedBy(await post(gate, "/t/zed/v1/responses", { model: "gpt-5" })), "openai");
  assert.equal(await servedBy(await post(gate, "/t/pi/v1/messages", { model: "qwen3" })), "anthropic");
  assert.equal(await servedBy(await post(gate, "/t/zed/v1/messages", { model: "claude" })), 404);
  assert.equal(await servedBy(await post(gate, "/t/pi/v1/responses", { model: "gpt-5" })), 404);
  const [record] = gate.ledger.records.slice(-1);
  assert.deepEqual(
    [refusals.map(({ refused }) => refused), record?.error_type, record?.upstream],
    [["not_found"], "model_not_found", "local"],
  );
});

test("an upstream without patterns before others serves every model, and no body waits for its model", async (t) => {
  const { gate } = await startWithThree(t, { local: { models: null } });
  assert.equal(await servedBy(await post(gate, "/v1/messages", { input: "without a model" })), "local");
});

test("a model that no upstream serves is refused with 404 in the API's shape, which names what is served", async (t) => {
  const { gate } = await startWithThree(t, { anthropic: { models: ["claude-*"] } });
  const response = await post(gate, "/v1/messages", { model: "gpt-5" });
  const { type, error } = (await response.json()) as {
    type: string;
    error: { type: string; message: string };
  };
  assert.deepEqual([response.status, type, error.type], [404, "error", "not_found_error"]);
  assert.match(
    error.message,
    /the model gpt-5: .*local: qwen\* llama\*; anthropic: claude-\*.*\. Type: tollkeeper route gpt-5$/,
  );
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "model_not_found");
  assert.equal(response.headers.get("x-should-retry"), "false");
});

test("the configuration's headers and query replace the client's, and only at their upstream", async (t) => {
  const { gate, upstreams } = await startWithThree(t, {
    openai: { headers: { "openai-organization": "org-1" }, query: { "api-version": "preview" } },
  });
  const headers = { "OpenAI-Organization": "org-of-the-client", "x-other": "kept" };
  await (
    await post(gate, "/v1/responses?api-version=1&a=b&api%2Dversion=2", { model: "gpt-5" }, headers)
  ).text();
  await (await post(gate, "/v1/messages?api-version=1", { model: "claude" }, headers)).text();
  const [openai, anthropic] = [upstreams["openai"]?.seen[0], upstreams["anthropic"]?.seen[0]];
  assert.deepEqual(
    [openai?.url, anthropic?.url],
    ["/v1/responses?a=b&api-version=preview", "/v1/messages?api-version=1"],
  );
  assert.deepEqual([openai?.headers["openai-organization"], openai?.headers["x-other"]], ["org-1", "kept"]);
  assert.equal(anthropic?.headers["openai-organization"], "org-of-the-client");
});

test("the key is sent as the upstream wants it on each API, and in no other header", async (t) => {
  const { gate, upstreams } = await startWithThree(t, {
    local: { auth: "api-key", keySource: { kind: "keychain" } },
    anthropic: {
      auth: {
        messages: "bearer",
        responses: undefined,
        chat: undefined,
        gemini: undefined,
        bedrock: undefined,
      },
    },
  });
  const client = { authorization: "Bearer client", "x-api-key": "client", "api-key": "client" };
  await (await post(gate, "/v1/messages", { model: "qwen3" }, client)).text();
  await (await post(gate, "/v1/messages", { model: "claude" }, client)).text();
  const sent = ["local", "anthropic"].map((name) => {
    const { headers } = upstreams[name]?.seen[0] ?? {};
    return [headers?.authorization, headers?.["x-api-key"], headers?.["api-key"]];
  });
  assert.deepEqual(sent, [
    [undefined, undefined, "sk-local-4711"],
    ["Bearer sk-anthropic-4711", undefined, undefined],
  ]);
});

test("a compressed body is refused where the choice depends on its model, and passes where it does not", async (t) => {
  const { gate } = await startWithThree(t);
  const send = (path: string) =>
    fetch(`${gate.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: gzipSync('{"model":"claude"}'),
    });
  const refused = await send("/v1/messages");
  assert.equal(refused.status, 400);
  assert.match(
    await refused.text(),
    /the model of the request cannot be read: .*the body is compressed \(gzip\)/,
  );
  const { gate: open } = await startWithThree(t, { local: { models: null } });
  const { status } = await fetch(`${open.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync('{"model":"claude"}'),
  });
  assert.equal(status, 200);
});

test("in token mode no byte of a body is read for its model before the client has shown its token", async (t) => {
  const { gate, refusals } = await startWithThree(t);
  const { config } = gate.gate.settings;
  gate.gate.use(prepareSettings({ ...config, access: { mode: "token", peerUid: [] } }));
  const response = await post(gate, "/v1/messages", { model: "qwen3", model2: "x" });
  assert.equal(response.headers.get("x-tollkeeper-refusal"), "token_required");
  assert.equal(refusals.length, 0);
  assert.equal((await gate.ledger.only()).error_type, "token_required");
});
