// What Google's API keeps besides files: interactions, batches, and operations that make films. Each counts once, whatever is fetched how often.
// With real sockets, before the sandbox, whose books the ledger has to agree with.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { classify } from "../../src/core/ledger/spend.ts";
import { openSandbox } from "../sandbox/sandbox-client.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, startGate, type GateOptions } from "../helpers/gate/gate.ts";
import { jsonSetup, readBody } from "../core/usage/response-bodies.ts";
import { sendJson } from "../helpers/upstream/scripted-upstream.ts";

const INTERACTIONS = "/v1beta/interactions";
const FLASH = "/v1beta/models/gemini-2.5-flash";
const ASKED = { model: "gemini-2.5-flash", input: "good morning" };

async function start(t: TestContext, options: GateOptions = {}) {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl, { ...options, upstream: { apis: ["gemini"] } });
  gate.keys.set({ name: gate.upstream.key, origin: gate.upstream.origin }, sandbox.keys[0]?.secret ?? "");
  const ask = async (method: string, path: string) => {
    const response = await fetch(gate.url + path, { method });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const send = async (path: string, body: object) =>
    (await (await post(gate, path, body)).json()) as Record<string, unknown>;
  /** The tokens that the sandbox has billed. */
  const billed = () =>
    sandbox
      .counts()
      .reduce((sum, { count }) => sum + count.input_uncached + count.cache_read + count.output, 0);
  return { gate, ask, send, billed };
}

/** The tokens that count: those of each id once. */
function counted(records: Awaited<ReturnType<typeof start>>["gate"]["ledger"]["records"]): number {
  const ids = new Set<string>();
  let sum = 0;
  for (const { tokens, spend, response_id: id } of records) {
    if (tokens === null || spend === "never") continue;
    if (spend === "attach_by_response_id" && id !== null) {
      if (ids.has(id)) continue;
      ids.add(id);
    }
    sum += tokens.total;
  }
  return sum;
}

test("an interaction counts, as a document, as a stream and in the background, and its fetches do not again", async (t) => {
  const { gate, ask, send, billed } = await start(t);
  const whole = await send(INTERACTIONS, ASKED);
  assert.match(JSON.stringify(whole), /You said: good morning/);
  const stream = await (await post(gate, INTERACTIONS, { ...ASKED, stream: true })).text();
  assert.match(stream, /^event: interaction\.created\ndata: /);
  const later = await send(INTERACTIONS, { ...ASKED, background: true });
  assert.equal(later["status"], "in_progress");
  for (let times = 0; times < 2; times += 1)
    assert.equal((await ask("GET", `${INTERACTIONS}/${String(later["id"])}`)).body["status"], "completed");
  const records = gate.ledger.records;
  assert.deepEqual(
    records.map(({ route, usage, spend, stream: streamed }) => `${route} ${usage} ${spend} ${streamed}`),
    [
      `${INTERACTIONS} final count false`,
      `${INTERACTIONS} final count true`,
      `${INTERACTIONS} pending attach_by_response_id false`,
      `${INTERACTIONS}/{id} final attach_by_response_id false`,
      `${INTERACTIONS}/{id} final attach_by_response_id false`,
    ],
  );
  assert.deepEqual(
    records.slice(2).map(({ response_id: id }) => id),
    Array.from({ length: 3 }, () => later["id"]),
  );
  assert.equal(counted(records), billed());
  assert.equal((await ask("DELETE", `${INTERACTIONS}/${String(whole["id"])}`)).status, 200);
  assert.equal((await ask("GET", `${INTERACTIONS}/${String(whole["id"])}`)).status, 404);
  const cancelled = await send(INTERACTIONS, { ...ASKED, background: true });
  const ended = await fetch(`${gate.url}${INTERACTIONS}/${String(cancelled["id"])}/cancel`, {
    method: "POST",
  });
  assert.equal(((await ended.json()) as { status: string }).status, "cancelled");
  assert.equal(counted(gate.ledger.records), billed());
});

test("the model of an interaction is in its body: a group judges it, and an alias is spelled as the model was", async (t) => {
  const config = rulesForTools({
    tools: { "*": { group: "small" } },
    groups: { small: { models: ["gemini-2.5-*"] } },
    aliases: { fast: "gemini-2.5-flash" },
  });
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}), {
    upstream: { apis: ["gemini"] },
    config,
  });
  const ask = async (body: object) =>
    (await post(gate, INTERACTIONS, body)).headers.get("x-tollkeeper-refusal");
  assert.equal(await ask({ model: "gemini-3-flash-preview", input: "x" }), "model_not_allowed");
  assert.equal(await ask({ agent: "deep-research", input: "x" }), "model_unreadable");
  assert.equal(await ask({ model: "gemini-2.5-pro", Model: "evil" }), "model_unreadable");
  assert.equal(upstream.seen.length, 0);
  assert.equal(await ask({ model: "fast", input: "x" }), null);
  assert.equal(await ask({ model: "models/fast", input: "x" }), null);
  assert.deepEqual(
    upstream.seen.map(({ body }) => body.toString()),
    ['{"model":"gemini-2.5-flash","input":"x"}', '{"model":"models/gemini-2.5-flash","input":"x"}'],
  );
});

const request = (text: string) => ({ request: { contents: [{ role: "user", parts: [{ text }] }] } });
const batchOf = (...requests: object[]) => ({
  batch: { displayName: "b", inputConfig: { requests: { requests } } },
});

test("a batch counts once, for its creation, with the usage of all requests, though each fetch has it twice", async (t) => {
  const { gate, ask, send, billed } = await start(t);
  const created = await send(
    `${FLASH}:batchGenerateContent`,
    batchOf(request("one"), request("number two"), {}),
  );
  const path = `/v1beta/${String(created["name"])}`;
  const [first, second] = [await ask("GET", path), await ask("GET", path)];
  assert.deepEqual(first, second);
  assert.equal(first.body["done"], true);
  assert.equal(JSON.stringify(first.body).split("usageMetadata").length - 1, 4);
  assert.equal((await ask("GET", "/v1beta/batches")).status, 200);
  assert.equal((await ask("DELETE", path)).status, 200);
  const records = gate.ledger.records;
  assert.deepEqual(
    records.map(({ method, route, usage, spend }) => `${method} ${route} ${usage} ${spend}`),
    [
      "POST /v1beta/models/{id}:batchGenerateContent pending attach_by_response_id",
      "GET /v1beta/batches/{id} final attach_by_response_id",
      "GET /v1beta/batches/{id} final attach_by_response_id",
      "GET /v1beta/batches none never",
      "DELETE /v1beta/batches/{id} none never",
    ],
  );
  assert.deepEqual(
    records.slice(0, 3).map(({ response_id: id, service_tier: tier }) => [id, tier]),
    Array.from({ length: 3 }, () => [String(created["name"]).slice("batches/".length), "batch"]),
  );
  assert.deepEqual(records.map(classify), ["request", "fetch", "fetch", "free", "free"]);
  assert.equal(records[1]?.model, "gemini-2.5-flash");
  assert.ok((records[1].largest_prompt ?? 0) > (records[1].smallest_prompt ?? 0));
  assert.equal(counted(records), billed());
  assert.ok(billed() > 0);
});

test("a batch whose requests and responses are in files counts what the service billed", async (t) => {
  const { gate, ask, send, billed } = await start(t);
  const lines = ["one", "number two"].map((text, at) => JSON.stringify({ key: `k-${at}`, ...request(text) }));
  const step = { "x-goog-upload-protocol": "resumable", "content-type": "application/json" };
  const begun = await fetch(`${gate.url}/upload/v1beta/files`, {
    method: "POST",
    headers: { ...step, "x-goog-upload-command": "start" },
    body: "{}",
  });
  const sent = await fetch(begun.headers.get("x-goog-upload-url") ?? "", {
    method: "POST",
    headers: { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" },
    body: lines.join("\n"),
  });
  const { file } = (await sent.json()) as { file: { name: string } };
  const created = await send(`${FLASH}:batchGenerateContent`, {
    batch: { displayName: "b", inputConfig: { fileName: file.name } },
  });
  const { body } = await ask("GET", `/v1beta/${String(created["name"])}`);
  const { responsesFile } = body["response"] as { responsesFile: string };
  assert.equal(gate.ledger.records.at(-1)?.output_file, responsesFile.slice("files/".length));
  const content = await (await fetch(`${gate.url}/v1beta/${responsesFile}:download?alt=media`)).text();
  const reading = readBody(
    content,
    jsonSetup({ dialect: "batch_responses", spend: "attach_by_response_id" }),
  );
  assert.deepEqual([reading.usage, reading.tokens?.total], ["final", billed()]);
});

test("a batch that is cancelled before it ran costs nothing, and says so", async (t) => {
  const { gate, ask, send, billed } = await start(t);
  const created = await send(`${FLASH}:batchGenerateContent`, batchOf(request("one")));
  const path = `/v1beta/${String(created["name"])}`;
  assert.equal((await fetch(`${gate.url}${path}:cancel`, { method: "POST" })).status, 200);
  await ask("GET", path);
  assert.equal(gate.ledger.records.at(-1)?.outcome, "cancelled");
  assert.deepEqual([counted(gate.ledger.records), billed()], [0, 0]);
});

test("a batch may name no other model than its path, where the model decides, and is closed to a limited tool", async (t) => {
  const evil = { request: { model: "models/evil", contents: [] } };
  const good = { request: { model: "models/good", contents: [] } };
  const { gate, upstream } = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}), {
    upstream: { apis: ["gemini"], models: ["good"] },
  });
  const ask = async (url: string, body: object) =>
    (await post(gate, url, body)).headers.get("x-tollkeeper-refusal");
  const path = "/v1beta/models/good:batchGenerateContent";
  assert.equal(await ask(path, batchOf(good, evil)), "model_unreadable");
  assert.equal(upstream.seen.length, 0);
  assert.equal(await ask(path, batchOf(good, request("x"))), null);
  const limited = await startGateWithUpstream(t, (_seen, res) => sendJson(res, {}), {
    upstream: { apis: ["gemini"] },
    config: rulesForTools({ tools: { "*": { group: "small" } }, groups: { small: { models: ["good*"] } } }),
  });
  for (const url of [path, "/v1beta/models/good:asyncBatchEmbedContent", "/upload/v1beta/files"])
    assert.equal(
      (await post(limited.gate, url, batchOf(good))).headers.get("x-tollkeeper-refusal"),
      "storage_not_allowed",
      url,
    );
  for (const url of ["/v1beta/batches", "/v1beta/batches/b-1", "/v1beta/files/f-1:download"])
    assert.equal(
      (await fetch(limited.gate.url + url)).headers.get("x-tollkeeper-refusal"),
      "storage_not_allowed",
    );
  assert.equal(limited.upstream.seen.length, 0);
});

test("pictures and seconds of films are counted; looks at an operation are free and name its model", async (t) => {
  const { gate, ask, send } = await start(t);
  const picture = await send("/v1beta/models/imagen-4.0-generate-001:predict", {
    instances: [{ prompt: "x" }],
    parameters: { sampleCount: 3 },
  });
  assert.match(JSON.stringify(picture), /bytesBase64Encoded/);
  const veo = "/v1beta/models/veo-3.0-generate-001:predictLongRunning";
  const film = await send(veo, {
    instances: [{ prompt: "x" }],
    parameters: { sampleCount: 2, durationSeconds: 6 },
  });
  await send(veo, { instances: [{ prompt: "of a length that is not said" }] });
  const { body } = await ask("GET", `/v1beta/${String(film["name"])}`);
  assert.equal(body["done"], true);
  const records = gate.ledger.records;
  assert.deepEqual(
    records.map(({ route, usage, spend, server_tools: made }) => [route, usage, spend, made]),
    [
      ["/v1beta/models/{id}:predict", "none", "count", { picture: 3 }],
      ["/v1beta/models/{id}:predictLongRunning", "none", "count", { video_second: 12 }],
      ["/v1beta/models/{id}:predictLongRunning", "absent", "never", {}],
      ["/v1beta/operations/{id}", "none", "never", {}],
    ],
  );
  assert.deepEqual(
    records.map(({ model_requested: model }) => model),
    ["imagen-4.0-generate-001", "veo-3.0-generate-001", "veo-3.0-generate-001", null],
  );
  assert.deepEqual(records.map(classify), ["request", "request", "request", "free"]);
  assert.equal(records[1]?.response_id, String(film["name"]).split("/").at(-1));
});

test("paths of operations, batches and interactions that a server could read in two ways have no route", async (t) => {
  const { gate } = await start(t);
  for (const path of [
    "/v1beta/models/a/operations/b:cancel",
    "/v1beta/models/a:predict/operations/b",
    "/v1beta/models/a%2Fb/operations/c",
    "/v1beta/models/a/operations/b%2Fc",
    "/v1beta/models/a/operations",
    "/v1beta/batches/a/cancel",
    "/v1beta/batches/a:delete",
    "/v1beta/interactions/a:cancel",
    "/v1beta/interactions/a%2Fcancel",
    "/v1beta/projects/p/locations/l/batches/a",
    "/upload/v1beta/batches",
  ])
    assert.equal((await fetch(gate.url + path)).status, 404, path);
});
