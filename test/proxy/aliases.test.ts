import { toolSettings } from "../helpers/config/tool-settings.ts";
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Config } from "../../src/core/config/config.ts";
import { beginRequest, rawClient } from "../helpers/client/raw-client.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post } from "../helpers/gate/gate.ts";
import { MESSAGE, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";

const ALIASES = { "claude-haiku": "qwen3-coder", short: "a-very-much-longer-name-of-a-model" };

function start(t: TestContext, config: Partial<Config> = { aliases: ALIASES }) {
  return startGateWithUpstream(t, respondWithMessage, { config });
}

test("an alias replaces the model's value in the body and nothing else, and the record has both names", async (t) => {
  const { gate, upstream } = await start(t);
  const body = '{ "x":"claude-haiku",\t"model" : "claude-haiku" , "messages":[{"model":"claude-haiku"}] }';
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${gate.url}/v1/messages`, { method: "POST", headers, body });
  assert.deepEqual(await response.json(), MESSAGE);
  const expected = body.replace('"model" : "claude-haiku"', '"model" : "qwen3-coder"');
  const [seen] = upstream.seen;
  assert.equal(seen?.body.toString(), expected);
  assert.equal(seen?.headers["content-length"], String(expected.length));
  const record = await gate.ledger.only();
  assert.deepEqual(
    [record.model_requested, record.alias, record.model, record.bytes_in],
    ["claude-haiku", "qwen3-coder", MESSAGE.model, body.length],
  );
});

test("a model without an alias passes byte for byte, and its record has none", async (t) => {
  const { gate, upstream } = await start(t);
  await (await post(gate, "/v1/messages", { model: "qwen3-coder" })).text();
  assert.equal(upstream.seen[0]?.body.toString(), '{"model":"qwen3-coder"}');
  assert.equal((await gate.ledger.only()).alias, null);
});

test("a tool's own alias goes before the one of all", async (t) => {
  const tools = { zed: toolSettings({ aliases: { short: "own" } }) };
  const { gate, upstream } = await start(t, { aliases: ALIASES, tools });
  for (const path of ["/t/zed/v1/messages", "/t/pi/v1/messages"])
    await (await post(gate, path, { model: "short" })).text();
  const models = upstream.seen.map(({ body }) => (JSON.parse(body.toString()) as { model: string }).model);
  assert.deepEqual(models, ["own", ALIASES.short]);
});

for (const [framing, isChunked] of [
  ["of known length", false],
  ["chunked", true],
] as const) {
  test(`the alias is put into a body ${framing} wherever its chunks end, also after 100 Continue`, async (t) => {
    const { gate, upstream } = await start(t);
    const body = `{"input":"${"x".repeat(70_000)}","model":"short","more":"${"y".repeat(70_000)}"}`;
    const at = body.indexOf('"short"');
    const cuts = [0, at - 3, at, at + 1, at + 4, at + 7, at + 9, body.length];
    const client = await rawClient(t, gate.port);
    const how = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`;
    client.write(beginRequest(gate.port, `Expect: 100-continue\r\n${how}`));
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    for (const [index, from] of cuts.slice(0, -1).entries()) {
      const piece = body.slice(from, cuts[index + 1]);
      client.write(isChunked ? `${piece.length.toString(16)}\r\n${piece}\r\n` : piece);
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    }
    if (isChunked) client.write("0\r\n\r\n");
    await client.until(/HTTP\/1\.1 200 OK[^]*end_turn/);
    assert.equal(upstream.seen[0]?.body.toString(), body.replace('"short"', `"${ALIASES.short}"`));
  });
}

test("the upstream is chosen by the model that the alias stands for", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage, {
    config: { aliases: ALIASES },
    upstream: { models: ["qwen*"] },
  });
  assert.equal((await post(gate, "/v1/messages", { model: "claude-haiku" })).status, 200);
  assert.equal((await post(gate, "/v1/messages", { model: "short" })).status, 404);
});

test("a compressed body is refused where an alias may apply, with the reason", async (t) => {
  const { gate } = await start(t);
  const response = await fetch(`${gate.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync('{"model":"short"}'),
  });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /the body is compressed \(gzip\)/);
});
