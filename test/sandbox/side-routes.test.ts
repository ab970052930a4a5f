// The sandbox's routes beside those that start a model by a message, and what tollkeeper records of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../src/core/json.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import { startGate } from "../helpers/gate/gate.ts";
import { bearer, openSandbox, post, responsesRequest, valueAt } from "./sandbox-client.ts";

async function ask(sandbox: Sandbox, method: string, path: string): Promise<[number, JsonObject]> {
  const response = await fetch(sandbox.baseUrl + path, { method, headers: bearer(sandbox) });
  return [response.status, (await response.json()) as JsonObject];
}

async function create(sandbox: Sandbox, more: JsonObject = {}): Promise<string> {
  return String(valueAt(await (await post(sandbox, "/responses", responsesRequest(more))).json(), "id"));
}

test("Codex gets its own list, with a version, and any other client the usual one", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await fetch(`${sandbox.baseUrl}/models?client_version=0.169.0`, {
    headers: bearer(sandbox),
  });
  const body = (await response.json()) as { models: { slug: string }[] };
  assert.equal(response.headers.get("etag"), 'W/"sandbox-1"');
  assert.ok(body.models.some(({ slug }) => slug === "gpt-5"));
  assert.ok(body.models.every(({ slug }) => slug.startsWith("gpt-")));
  const [, usual] = await ask(sandbox, "GET", "/models");
  assert.equal(usual["object"], "list");
});

test("a single model is found by its name, also with slashes, and an unknown one is 404", async (t) => {
  const sandbox = await openSandbox(t, { groups: { all: ["gpt-5", "openai/gpt-5.5"] } });
  for (const id of ["gpt-5", "openai/gpt-5.5"]) {
    const [status, body] = await ask(sandbox, "GET", `/models/${id}`);
    assert.deepEqual([status, body["id"], body["object"]], [200, id, "model"]);
  }
  assert.equal((await ask(sandbox, "GET", "/models/gpt-9"))[0], 404);
});

test("a stored response lists its input, and is not found once it is deleted", async (t) => {
  const sandbox = await openSandbox(t);
  const id = await create(sandbox, {
    input: [
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ],
  });
  const [, items] = await ask(sandbox, "GET", `/responses/${id}/input_items`);
  assert.deepEqual(
    (items["data"] as JsonObject[]).map(({ content }) => content),
    ["two", "one"],
  );
  const [status, deleted] = await ask(sandbox, "DELETE", `/responses/${id}`);
  assert.deepEqual([status, deleted], [200, { id, object: "response", deleted: true }]);
  for (const path of [`/responses/${id}`, `/responses/${id}/input_items`])
    assert.equal((await ask(sandbox, "GET", path))[0], 404, path);
});

test("a queued response that is cancelled is billed for nothing; one that has ended cannot be cancelled", async (t) => {
  const sandbox = await openSandbox(t);
  const queued = await create(sandbox, { background: true });
  const [status, cancelled] = await ask(sandbox, "POST", `/responses/${queued}/cancel`);
  assert.deepEqual([status, cancelled["status"], cancelled["usage"]], [200, "cancelled", null]);
  await ask(sandbox, "GET", `/responses/${queued}`);
  assert.ok(sandbox.counts().every(({ count }) => count.output === 0));
  assert.equal((await ask(sandbox, "POST", `/responses/${await create(sandbox)}/cancel`))[0], 400);
});

test("a path with several methods names all of them to a client with another", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await fetch(`${sandbox.baseUrl}/responses/resp_1`, {
    method: "PUT",
    headers: bearer(sandbox),
  });
  assert.deepEqual([response.status, response.headers.get("allow")], [405, "GET, DELETE"]);
});

test("the records of side routes have the tokens that the sandbox has billed, and where it reports none they are unknown", async (t) => {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl);
  gate.keys.set({ name: "default", origin: new URL(sandbox.baseUrl).origin }, sandbox.keys[0]?.secret ?? "");
  const send = async (path: string, body: JsonObject) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${gate.url}/v1${path}`, init);
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);
    await response.arrayBuffer();
  };
  await send("/responses/compact", responsesRequest());
  await send("/responses/input_tokens", responsesRequest());
  await send("/alpha/search", { model: "gpt-5", commands: { search_query: [{ q: "tolls" }] } });
  await send("/moderations", { input: "hello" });
  await send("/rerank", { model: "gpt-5", query: "good day", documents: ["good morning", "night"] });
  const billed = new Map(sandbox.counts().map(({ route, count }) => [route, count]));
  const rows = gate.ledger.records.map(({ route, usage, tokens }) => [
    route,
    usage,
    tokens?.input_total ?? null,
  ]);
  assert.deepEqual(rows, [
    ["/responses/compact", "final", billed.get("/responses/compact")?.input_uncached],
    ["/responses/input_tokens", "none", null],
    ["/alpha/search", "absent", null],
    ["/moderations", "absent", null],
    ["/rerank", "final", billed.get("/rerank")?.input_uncached],
  ]);
});

const PNG = Buffer.from("89504e47", "hex");

async function sendForm(
  url: string,
  fields: Record<string, string>,
  file: string,
  headers: Record<string, string>,
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(file, new Blob([Buffer.alloc(40_000, PNG)]), "a.bin");
  const response = await fetch(url, { method: "POST", body: form, headers });
  assert.equal(response.status, 200, `${url}: ${await response.clone().text()}`);
  return response;
}

test("the records of images and audio have the tokens that the sandbox has billed and reported, and no others", async (t) => {
  const sandbox = await openSandbox(t);
  const gate = await startGate(t, sandbox.baseUrl, { upstream: { apis: ["responses", "images", "audio"] } });
  gate.keys.set({ name: "default", origin: new URL(sandbox.baseUrl).origin }, sandbox.keys[0]?.secret ?? "");
  const sendJson = async (path: string, body: JsonObject) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${gate.url}/v1${path}`, init);
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const form = async (path: string, fields: Record<string, string>, file: string) =>
    await (await sendForm(`${gate.url}/v1${path}`, fields, file, {})).text();
  const image = { model: "gpt-image-1", prompt: "a lighthouse" };
  await sendJson("/images/generations", image);
  await sendJson("/images/generations", { ...image, stream: true });
  await sendJson("/images/edits", { ...image, images: [{ image_url: "data:image/png;base64,AA==" }] });
  await form("/images/edits", image, "image");
  await form("/images/variations", { model: "dall-e-2" }, "image");
  const sound = await sendJson("/audio/speech", { model: "gpt-4o-mini-tts", voice: "alloy", input: "hello" });
  assert.equal(sound.toString("latin1", 0, 4), "RIFF");
  await sendJson("/audio/speech", {
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    input: "hello",
    stream_format: "sse",
  });
  await form("/audio/transcriptions", { model: "gpt-4o-transcribe" }, "file");
  await form("/audio/transcriptions", { model: "gpt-4o-transcribe", stream: "true" }, "file");
  await form("/audio/transcriptions", { model: "whisper-1" }, "file");
  await form("/audio/translations", { model: "whisper-1", response_format: "text" }, "file");
  const rows = gate.ledger.records.map(({ route, outcome, usage, tokens }) =>
    [route, outcome, usage, tokens?.total ?? null].join(" "),
  );
  assert.deepEqual(rows, [
    "/images/generations completed final 275",
    "/images/generations completed final 275",
    "/images/edits completed final 339",
    "/images/edits completed final 339",
    "/images/variations completed none ",
    "/audio/speech completed absent ",
    "/audio/speech completed final 12",
    "/audio/transcriptions completed final 38",
    "/audio/transcriptions completed final 38",
    "/audio/transcriptions completed absent ",
    "/audio/translations completed absent ",
  ]);
  const billed = sandbox.counts().reduce((sum, { count }) => sum + count.input_uncached + count.output, 0);
  const recorded = gate.ledger.records.reduce((sum, { tokens }) => sum + (tokens?.total ?? 0), 0);
  // Sound alone is billed and not reported.
  assert.equal(billed - recorded, 12);
});

test("a file that is missing, or a form that is none, is 400", async (t) => {
  const sandbox = await openSandbox(t);
  const noFile = await post(sandbox, "/audio/transcriptions", { model: "whisper-1" });
  assert.equal(noFile.status, 400);
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  assert.equal((await post(sandbox, "/audio/transcriptions", {}, headers)).status, 400);
});
