import { toolSettings } from "../helpers/config/tool-settings.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, startGate } from "../helpers/gate/gate.ts";
import {
  MESSAGE,
  respondWithMessage,
  sendJson,
  startUpstream,
} from "../helpers/upstream/scripted-upstream.ts";

/** A small, complete response of the Responses API. */
const RESPONSE = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-5",
  output: [],
  usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
};

test("every alias of a route, with or without a tool mark, is forwarded to the same upstream path with its query unchanged", async (t) => {
  const upstream = await startUpstream(t, respondWithMessage);
  const gate = await startGate(t, `${upstream.origin}/api/v1`);
  for (const path of [
    "/messages",
    "/v1/messages",
    "/v1/v1/messages",
    "/t/zed/messages",
    "/t/zed/v1/messages",
  ]) {
    const res = await post(gate, `${path}?beta=true&x=%2F..%2f`, {});
    assert.equal(res.status, 200);
    await res.text();
  }
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    Array.from({ length: 5 }, () => "/api/v1/messages?beta=true&x=%2F..%2f"),
  );
});

test("the record of a request names its tool, key, upstream, route, models and tokens", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => {
    res.setHeader("request-id", "req_9");
    sendJson(res, MESSAGE);
  });
  const body = { model: "claude-sonnet-5-latest", max_tokens: 5, messages: [], stream: false };
  const res = await post(gate, "/t/zed/v1/messages", body, { "user-agent": "curl/8" });
  const text = await res.text();
  const record = await gate.ledger.only();
  assert.deepEqual(
    {
      tool: record.tool,
      tool_by: record.tool_by,
      user_agent: record.user_agent,
      key: record.key,
      upstream: record.upstream,
      route: record.route,
      method: record.method,
      status: record.status,
      model_requested: record.model_requested,
      model: record.model,
      stream: record.stream,
      outcome: record.outcome,
      usage: record.usage,
      spend: record.spend,
      upstream_request_id: record.upstream_request_id,
      bytes_in: record.bytes_in,
      bytes_out: record.bytes_out,
    },
    {
      tool: "zed",
      tool_by: "path",
      user_agent: "curl/8",
      key: "default",
      upstream: "default",
      route: "/messages",
      method: "POST",
      status: 200,
      model_requested: "claude-sonnet-5-latest",
      model: "claude-sonnet-5",
      stream: false,
      outcome: "completed",
      usage: "final",
      spend: "count",
      upstream_request_id: "req_9",
      bytes_in: JSON.stringify(body).length,
      bytes_out: text.length,
    },
  );
  assert.equal(record.tokens?.input_total, 3);
  assert.equal(record.tokens?.output, 2);
});

test("a request of a tool with its own upstream and key goes to that upstream with that key", async (t) => {
  const first = await startUpstream(t, (_seen, res) => sendJson(res, RESPONSE));
  const second = await startUpstream(t, (_seen, res) => sendJson(res, RESPONSE));
  const gate = await startGate(t, first.baseUrl);
  const other = { ...gate.upstream, name: "other", baseUrl: second.baseUrl, origin: second.origin };
  gate.gate.use(
    prepareSettings({
      ...gate.gate.settings.config,
      upstreams: { default: gate.upstream, other },
      tools: { codex: toolSettings({ upstreams: ["other"], key: "codex" }) },
    }),
  );
  gate.keys.set({ name: "codex", origin: second.origin }, "codex-key");
  await (await post(gate, "/t/codex/v1/responses", {})).text();
  assert.equal(second.seen[0]?.headers.authorization, "Bearer codex-key");
  assert.equal(first.seen.length, 0);
  const record = await gate.ledger.only();
  assert.deepEqual([record.key, record.upstream], ["codex", "other"]);
});

test("model lists and token counts are recorded without usage and never count as spend", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, { input_tokens: 9 }));
  await (await fetch(`${gate.url}/v1/models`)).text();
  await (await post(gate, "/v1/messages/count_tokens", { model: "m" })).text();
  const records = await gate.ledger.first(2);
  assert.deepEqual(
    records.map(({ route, usage, spend, tokens, outcome }) => [route, usage, spend, tokens, outcome]),
    [
      ["/models", "none", "never", null, "completed"],
      ["/messages/count_tokens", "none", "never", null, "completed"],
    ],
  );
});
