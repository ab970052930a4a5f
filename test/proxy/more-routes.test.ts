// The routes beside those that start a model by a message: stored responses, compaction, single models, and calls whose cost no
// response says. Each with real sockets, from the client to the record.
import assert from "node:assert/strict";
import { test } from "node:test";
import { classify } from "../../src/core/ledger/spend.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { exchangeRaw, jsonHeaders } from "../helpers/client/raw-exchange.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { startGate, upstreamAt } from "../helpers/gate/gate.ts";

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const STORED = { id: "resp_1", object: "response", status: "completed", model: "gpt-5.5", usage: USAGE };

const IMAGE_USAGE = { input_tokens: 50, output_tokens: 4_160, total_tokens: 4_210 };

for (const [line, body, response, expected] of [
  [
    "POST /images/generations",
    { model: "gpt-image-1" },
    { data: [], usage: IMAGE_USAGE },
    "request final count",
  ],
  [
    "POST /images/edits",
    { model: "gpt-image-1", images: [] },
    { data: [], usage: IMAGE_USAGE },
    "request final count",
  ],
  ["POST /images/variations", { model: "dall-e-2" }, { data: [] }, "request absent never"],
  ["POST /audio/speech", { model: "tts-1" }, { note: "sound, in fact" }, "request absent never"],
  [
    "POST /audio/transcriptions",
    { model: "whisper-1" },
    { text: "hello", usage: { type: "duration", seconds: 3 } },
    "request absent never",
  ],
  ["POST /audio/translations", { model: "whisper-1" }, { text: "hello" }, "request absent never"],

  [
    "POST /responses/compact",
    { model: "gpt-5.5" },
    { object: "response.compaction", usage: USAGE },
    "request final count",
  ],
  ["POST /responses/input_tokens", { model: "gpt-5.5" }, { input_tokens: 9 }, "free none never"],
  ["GET /responses/resp_1", null, STORED, "fetch final attach_by_response_id"],
  ["GET /responses/resp_1?stream=true&starting_after=2", null, STORED, "fetch final attach_by_response_id"],
  ["POST /responses/resp_1/cancel", {}, STORED, "fetch final attach_by_response_id"],
  ["DELETE /responses/resp_1", null, { id: "resp_1", deleted: true }, "free none never"],
  ["GET /responses/resp_1/input_items?limit=2", null, { data: [] }, "free none never"],
  [
    "POST /alpha/search",
    { model: "gpt-6.2-sol", commands: {} },
    { output: "found", results: [] },
    "request absent never",
  ],
  ["POST /moderations", { input: "x" }, { id: "modr-1", results: [] }, "request absent never"],
  [
    "POST /rerank",
    { model: "rerank-1" },
    { results: [], usage: { prompt_tokens: 7, total_tokens: 7 } },
    "request final count",
  ],
  [
    "POST /rerank",
    { model: "rerank-1" },
    { results: [], meta: { billed_units: {} } },
    "request absent never",
  ],
  ["GET /models/openai/gpt-5.5", null, { id: "openai/gpt-5.5", object: "model" }, "free none never"],
] as const)
  test(`${line} passes byte for byte, with the key, and is recorded as ${expected}`, async (t) => {
    const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, response), {
      upstream: { apis: ["responses", "chat", "images", "audio"] },
    });
    const [method = "", target = ""] = line.split(" ");
    const sent = body === null ? null : JSON.stringify(body);
    const reply = await fetch(`${gate.url}/v1${target}`, {
      method,
      ...(sent !== null && { headers: { "content-type": "application/json" }, body: sent }),
    });
    assert.deepEqual([reply.status, await reply.json()], [200, response]);
    const [seen] = upstream.seen;
    assert.deepEqual([seen?.method, seen?.url, seen?.body.toString()], [method, `/v1${target}`, sent ?? ""]);
    assert.match(String(seen?.headers.authorization), /^Bearer sentinel-key/);
    const [record, ...others] = gate.ledger.records;
    assert.ok(record !== undefined && others.length === 0);
    assert.equal(`${classify(record)} ${record.usage} ${record.spend}`, expected);
    assert.equal(record.method, method);
    const name = target.replace(/\?.*/, "").replace("resp_1", "{id}").replace("openai/gpt-5.5", "{id}");
    assert.equal(record.route, name);
  });

test("a POST to cancel without a body and without a content type reaches the upstream as such, and one of a page is refused", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, STORED));
  const ask = async (...headers: string[]) =>
    await exchangeRaw(t, gate.port, [
      "POST /v1/responses/resp_1/cancel HTTP/1.1",
      `Host: 127.0.0.1:${gate.port}`,
      ...headers,
    ]);
  for (const header of [
    "Origin: null",
    "Referer: http://evil.example/",
    "Sec-Fetch-Site: none",
    `Referer: ${gate.url}/`,
  ])
    assert.equal((await ask(header, "Content-Length: 0")).status, 403, header);
  assert.equal(
    (await ask("Content-Type: text/plain", "Content-Length: 0", "Sec-Fetch-Site: cross-site")).status,
    403,
  );
  assert.equal(upstream.seen.length, 0);
  // curl and others say nothing of a body where there is none.
  for (const headers of [["Content-Length: 0"], []]) {
    assert.equal((await ask(...headers)).status, 200);
    const seen = upstream.seen.at(-1);
    assert.equal(seen?.body.length, 0);
    assert.deepEqual([seen?.headers["content-length"], seen?.headers["transfer-encoding"]], ["0", undefined]);
  }
  assert.equal(upstream.seen.length, 2);
});

test("a form passes byte for byte where a route of the configuration lists it, and one of a page, or on any other route, does not", async (t) => {
  const route = {
    method: "POST",
    path: "/audio/transcriptions",
    auth: "bearer",
    dialect: "none",
    spend: "count",
  } as const;
  const { gate, upstream } = await startGateWithUpstream(
    t,
    (_seen, res) => sendJson(res, { text: "hello" }),
    {
      upstream: { routes: [{ ...route, accepts: ["multipart"] }] },
    },
  );
  const form = new FormData();
  form.set("file", new Blob([Buffer.alloc(300_000, 7)]), "a.wav");
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "";
  const body = Buffer.from(await encoded.arrayBuffer());
  const send = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(gate.url + path, {
      method: "POST",
      body,
      headers: { "content-type": type, ...headers },
    });
    await reply.text();
    return reply.status;
  };
  assert.equal(await send("/v1/audio/transcriptions", { referer: `${gate.url}/` }), 403);
  assert.equal(await send("/v1/responses"), 415);
  assert.equal(await send("/v1/responses/resp_1/cancel"), 415);
  assert.equal(upstream.seen.length, 0);
  assert.equal(await send("/v1/audio/transcriptions"), 200);
  assert.ok(upstream.seen[0]?.body.equals(body));
  assert.equal(upstream.seen[0]?.headers["content-type"], type);
  const [record] = gate.ledger.records;
  assert.ok(record);
  assert.deepEqual([classify(record), record.usage], ["request", "absent"]);
});

/** A form with a file, as SDKs send it. */
async function composeForm(): Promise<{ type: string; body: Buffer }> {
  const form = new FormData();
  form.set("model", "whisper-1");
  form.set("file", new Blob([Buffer.alloc(300_000, 7)]), "a.wav");
  const encoded = new Response(form);
  return {
    type: encoded.headers.get("content-type") ?? "",
    body: Buffer.from(await encoded.arrayBuffer()),
  };
}

const MEDIA_FORMS = ["/images/edits", "/images/variations", "/audio/transcriptions", "/audio/translations"];

test("forms with files pass byte for byte on the routes that take them, and a web page's never", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(
    t,
    (_seen, res) => sendJson(res, { text: "hello" }),
    {
      upstream: { apis: ["responses", "chat", "images", "audio"] },
    },
  );
  const { type, body } = await composeForm();
  const send = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${gate.url}/v1${path}`, {
      method: "POST",
      body,
      headers: { "content-type": type, ...headers },
    });
    await reply.text();
    return reply.status;
  };
  for (const path of MEDIA_FORMS) assert.equal(await send(path, { referer: `${gate.url}/` }), 403, path);
  for (const path of ["/images/generations", "/audio/speech"]) assert.equal(await send(path), 415, path);
  assert.equal(upstream.seen.length, 0);
  for (const path of MEDIA_FORMS) {
    assert.equal(await send(path), 200, path);
    assert.ok(upstream.seen.at(-1)?.body.equals(body));
  }
  assert.ok(
    gate.ledger.records.every((record) => classify(record) === "request" && record.usage === "absent"),
  );
});

test("images go nowhere unless the upstream has them, and the refusal names the entry that would forward them", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}));
  const reply = await fetch(`${gate.url}/v1/images/generations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(reply.status, 404);
  assert.match(await reply.text(), /"path\\":\\"\/images\/generations\\".*"dialect\\":\\"media/);
  assert.equal(upstream.seen.length, 0);
});

const script = (name: string) => ({
  script: (_seen: unknown, res: Parameters<typeof sendJson>[0]) => sendJson(res, { from: name }),
});

test("a form goes to the first upstream without a list of models, whose model is not read in it", async (t) => {
  const { gate } = await startGateWithUpstreams(t, {
    local: { ...script("local"), settings: { models: ["qwen*"] } },
    openai: script("openai"),
  });
  useConfig(gate, { aliases: { "whisper-1": "qwen3" } });
  const { type, body } = await composeForm();
  const send = async () =>
    await fetch(`${gate.url}/v1/audio/transcriptions`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
  assert.deepEqual(await (await send()).json(), { from: "openai" });
  // A group must know the model.
  const groups = { small: { name: "small", models: ["whisper*"], key: null, budgets: [], brake: null } };
  useConfig(gate, { groups, otherTools: { ...gate.gate.settings.config.otherTools, group: "small" } });
  const refused = await send();
  assert.equal(refused.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  assert.match(await refused.text(), /form with files/);
});

test("a form goes nowhere where every upstream has a list of models", async (t) => {
  const { gate, upstreams } = await startGateWithUpstreams(t, {
    a: { script: (_seen, res) => sendJson(res, {}), settings: { models: ["a*"] } },
    b: { script: (_seen, res) => sendJson(res, {}), settings: { models: ["b*"] } },
  });
  const { type, body } = await composeForm();
  const init = { method: "POST", body, headers: { "content-type": type } };
  const reply = await fetch(`${gate.url}/v1/audio/transcriptions`, init);
  assert.equal(reply.headers.get("x-tollkeeper-refusal"), "model_unreadable");
  await reply.text();
  assert.deepEqual([upstreams.a.seen.length, upstreams.b.seen.length], [0, 0]);
});

test("a budget reserves for a form what an unknown file may be, however large it is, and does not read it", async (t) => {
  const budgets = new RecordingBudgets();
  const { gate, upstream } = await startGateWithUpstream(
    t,
    (_seen, res) => sendJson(res, { text: "hello" }),
    {
      budgets,
      config: rulesForTools({ budgets: [{ usd: 1, per: "day" }] }),
    },
  );
  const { type, body } = await composeForm();
  const reply = await fetch(`${gate.url}/v1/audio/transcriptions`, {
    method: "POST",
    body,
    headers: { "content-type": type },
  });
  assert.deepEqual([reply.status, await reply.json()], [200, { text: "hello" }]);
  assert.ok(upstream.seen[0]?.body.equals(body));
  assert.deepEqual(
    budgets.asked.map(({ model, input }) => [model, input]),
    [[null, 32_000]],
  );
  assert.equal(budgets.released, 1);
});

test("a DELETE with a body is refused, and so is a GET", async (t) => {
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}));
  for (const method of ["DELETE", "GET"]) {
    const head = [`${method} /v1/responses/resp_1 HTTP/1.1`, ...jsonHeaders(gate.port)];
    const reply = await exchangeRaw(t, gate.port, head, "{}");
    assert.equal(reply.refusal, "bad_request", method);
  }
  assert.equal(upstream.seen.length, 0);
});

/** What tells the shapes of errors apart. */
const SHAPES = {
  Messages: { type: "error", code: "undefined", status: "undefined" },
  OpenAI: { type: undefined, code: "string", status: "undefined" },
  Google: { type: undefined, code: "number", status: "string" },
};

for (const [headers, shape] of [
  [{ "anthropic-version": "2023-06-01" }, "Messages"],
  [{ "x-goog-api-client": "genai-js/1.2.3" }, "Google"],
  [{ "X-Goog-Api-Key": "placeholder" }, "Google"],
  [{}, "OpenAI"],
] as const)
  test(`a refusal on a path that belongs to no API has the shape of the ${shape} API for a client of it (${Object.keys(headers).join()})`, async (t) => {
    const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}));
    for (const path of ["/v1/models/..%2f", "/v1/vector_stores", "/v1/models/x?a", "/v1/nothing"]) {
      const method = path.endsWith("?a") ? "DELETE" : "GET";
      const reply = await fetch(gate.url + path, { method, headers });
      const body = (await reply.json()) as { type?: string; error: { code?: unknown; status?: unknown } };
      const { code, status } = body.error;
      assert.deepEqual({ type: body.type, code: typeof code, status: typeof status }, SHAPES[shape], path);
      if (shape === "Google") assert.equal(code, reply.status);
    }
  });

test("a refusal on a route of an API has its shape, whatever else the client sends", async (t) => {
  const { gate } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}));
  gate.keys.values.clear();
  const reply = await fetch(`${gate.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-goog-api-client": "genai-js/1.2.3" },
    body: "{}",
  });
  assert.equal(((await reply.json()) as { type: string }).type, "error");
});

test("with several upstreams, a single model is asked for where its API and its name lead", async (t) => {
  const [openai, anthropic] = await Promise.all([
    startUpstream(t, (_seen, res) => sendJson(res, { from: "openai" })),
    startUpstream(t, (_seen, res) => sendJson(res, { from: "anthropic" })),
  ]);
  const gate = await startGate(t, openai.baseUrl, {
    config: {
      upstreams: {
        default: upstreamAt(openai.baseUrl, { apis: ["responses", "chat"] }),
        other: upstreamAt(anthropic.baseUrl, { name: "other", apis: ["messages"] }),
      },
    },
  });
  gate.keys.set({ name: "default", origin: new URL(anthropic.baseUrl).origin }, "sk-other-4711");
  const ask = async (headers: Record<string, string>) =>
    await (await fetch(`${gate.url}/v1/models/m-1`, { headers })).json();
  assert.deepEqual(await ask({}), { from: "openai" });
  assert.deepEqual(await ask({ "anthropic-version": "2023-06-01" }), { from: "anthropic" });
});
