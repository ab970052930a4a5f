// The official SDKs store files and run batches through a gate before the sandbox. The ledger counts each batch once, however often its
// results are fetched, and as much as the sandbox has billed.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import Anthropic, { NotFoundError as NoSuchFile, toFile as toAnthropicFile } from "@anthropic-ai/sdk";
import OpenAI, { NotFoundError, toFile } from "openai";
import { BackgroundResponses } from "../../src/core/ledger/background.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { classify, isBackground } from "../../src/core/ledger/spend.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import { startDaemonWithSandbox, startGateWithSandbox } from "../helpers/ledger/sandbox-billing.ts";

async function start(t: TestContext) {
  const { gate, sandbox } = await startGateWithSandbox(t);
  const openai = new OpenAI({ apiKey: "placeholder", baseURL: `${gate.url}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: "placeholder", baseURL: gate.url, maxRetries: 0 });
  const { records } = gate.ledger;
  const rows = () =>
    records.map(({ method, route, usage, spend }) => [method, route, usage, spend].join(" "));
  return { gate, sandbox, openai, anthropic, records, rows };
}

function countedRequests(records: readonly UsageRecord[]) {
  const background = new BackgroundResponses();
  for (const record of records) if (isBackground(record, classify(record))) background.add(record);
  return background.counted();
}

/** Returns the tokens that count, as a report has them. */
function countedTokens(records: readonly UsageRecord[]) {
  const sum = { input_uncached: 0, cache_read: 0, cache_write: 0, output: 0 };
  for (const { source } of countedRequests(records))
    for (const set of [source.tokens, ...source.extra])
      for (const kind of Object.keys(sum) as (keyof typeof sum)[]) sum[kind] += set?.[kind] ?? 0;
  return sum;
}

function billedTokens(sandbox: Sandbox, route: string) {
  const count = sandbox.counts().find((row) => row.route === route)?.count;
  assert.ok(count);
  const { input_uncached, cache_read, cache_write, output } = count;
  return { input_uncached, cache_read, cache_write, output };
}

const LINES = ["one", "two", "three"].map((text, index) =>
  JSON.stringify({
    custom_id: `r-${index}`,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "gpt-5", messages: [{ role: "user", content: text }] },
  }),
);

test("openai: a file becomes a batch, whose usage counts once when it has ended", async (t) => {
  const { sandbox, openai, records, rows } = await start(t);
  const file = await toFile(Buffer.from(LINES.join("\n")), "batch.jsonl");
  const input = await openai.files.create({ file, purpose: "batch" });
  const batch = await openai.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  assert.equal(batch.status, "validating");
  const ended = await openai.batches.retrieve(batch.id);
  assert.deepEqual([ended.status, ended.request_counts?.completed], ["completed", 3]);
  await openai.batches.retrieve(batch.id);
  const output = await openai.files.content(ended.output_file_id ?? "");
  assert.equal((await output.text()).trim().split("\n").length, 3);
  assert.deepEqual(rows(), [
    "POST /files none never",
    "POST /batches pending attach_by_response_id",
    "GET /batches/{id} final attach_by_response_id",
    "GET /batches/{id} final attach_by_response_id",
    "GET /files/{id}/content none never",
  ]);
  assert.deepEqual(
    records.map(({ response_id: id }) => id),
    [input.id, batch.id, batch.id, batch.id, null],
  );
  assert.deepEqual(countedTokens(records), billedTokens(sandbox, "/batches"));
  assert.equal(records[2]?.service_tier, "batch");
});

test("openai: the output file takes the place of the batch's sum, and the file of errors has no usage", async (t) => {
  const { daemon, sandbox } = await startDaemonWithSandbox(t);
  const openai = new OpenAI({ apiKey: "placeholder", baseURL: `${daemon.url}/v1`, maxRetries: 0 });
  const failing = JSON.stringify({ custom_id: "r-3", body: { model: "no-such-model", messages: [] } });
  const file = await toFile(Buffer.from([...LINES, failing].join("\n")), "batch.jsonl");
  const input = await openai.files.create({ file, purpose: "batch" });
  const batch = await openai.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  const ended = await openai.batches.retrieve(batch.id);
  assert.deepEqual(ended.request_counts, { total: 4, completed: 3, failed: 1 });
  for (const [id, lines] of [
    [ended.output_file_id, 3],
    [ended.error_file_id, 1],
    [ended.output_file_id, 3],
  ] as const) {
    const content = await openai.files.content(id ?? "");
    assert.equal((await content.text()).trim().split("\n").length, lines);
  }
  const records = await daemon.ledger();
  const fetches = records.filter(({ route }) => route === "/files/{id}/content");
  const { model, service_tier: tier, largest_prompt: largest } = fetches[0] ?? assert.fail("no fetch");
  assert.ok(model?.startsWith("gpt-5") && tier === "batch" && largest !== null && largest > 0);
  assert.deepEqual(
    fetches.map(({ usage, response_id: id, output_file: output }) => [usage, id, output]),
    [
      ["final", batch.id, null],
      ["none", null, null],
      ["final", batch.id, null],
    ],
  );
  assert.deepEqual(countedTokens(records), billedTokens(sandbox, "/batches"));
  const [creation] = countedRequests(records);
  assert.deepEqual([creation?.record.route, creation?.source.route], ["/batches", "/files/{id}/content"]);
});

test("openai: lists, deletions, cancelled batches, and uploads in parts", async (t) => {
  const { openai, records, rows } = await start(t);
  const upload = await openai.uploads.create({
    bytes: 11,
    filename: "a.txt",
    mime_type: "text/plain",
    purpose: "user_data",
  });
  const part = await openai.uploads.parts.create(upload.id, {
    data: await toFile(Buffer.from("hello world"), "part"),
  });
  const done = await openai.uploads.complete(upload.id, { part_ids: [part.id] });
  const id = done.file?.id ?? "";
  assert.equal(await (await openai.files.content(id)).text(), "hello world");
  assert.equal(records[2]?.response_id, id);
  assert.deepEqual(
    (await openai.files.list()).data.map((file) => file.id),
    [id],
  );
  assert.equal((await openai.files.retrieve(id)).bytes, 11);
  await openai.files.delete(id);
  await assert.rejects(openai.files.retrieve(id), NotFoundError);
  const other = await openai.uploads.create({
    bytes: 1,
    filename: "b",
    mime_type: "text/plain",
    purpose: "user_data",
  });
  assert.equal((await openai.uploads.cancel(other.id)).status, "cancelled");
  const input = await openai.files.create({
    file: await toFile(Buffer.from(LINES[0] ?? ""), "b.jsonl"),
    purpose: "batch",
  });
  const batch = await openai.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  assert.equal((await openai.batches.cancel(batch.id)).status, "cancelled");
  assert.equal((await openai.batches.list()).data.length, 1);
  assert.ok(rows().includes("POST /batches/{id}/cancel final attach_by_response_id"));
  assert.deepEqual(countedTokens(records), { input_uncached: 0, cache_read: 0, cache_write: 0, output: 0 });
});

const REQUESTS = [
  ["claude-sonnet-5", "one"],
  ["claude-haiku-4-5", "two"],
  ["claude-sonnet-5", "three"],
  ["no-such-model", "four"],
].map(([model = "", content = ""], index) => ({
  custom_id: `r-${index}`,
  params: { model, max_tokens: 100, messages: [{ role: "user" as const, content }] },
}));

test("anthropic: a batch counts once by its results, for each of its models, at the price of a batch", async (t) => {
  const { sandbox, anthropic, records, rows } = await start(t);
  const batch = await anthropic.messages.batches.create({ requests: REQUESTS });
  const ended = await anthropic.messages.batches.retrieve(batch.id);
  assert.deepEqual([ended.processing_status, ended.request_counts.succeeded], ["ended", 3]);
  for (let n = 0; n < 2; n += 1) {
    const results = await anthropic.get(`/v1/messages/batches/${batch.id}/results`, {
      headers: { accept: "application/binary" },
      __binaryResponse: true,
    });
    assert.equal((await (results as Response).text()).trim().split("\n").length, 4);
  }
  assert.deepEqual(rows(), [
    "POST /messages/batches pending attach_by_response_id",
    "GET /messages/batches/{id} none never",
    "GET /messages/batches/{id}/results final attach_by_response_id",
    "GET /messages/batches/{id}/results final attach_by_response_id",
  ]);
  assert.deepEqual(countedTokens(records), billedTokens(sandbox, "/messages/batches"));
  const [created, , fetched] = records;
  assert.ok(created && fetched);
  assert.equal(fetched.response_id, created.response_id);
  assert.deepEqual(
    [fetched.service_tier, fetched.model, fetched.extra.map(({ model }) => model), fetched.flags],
    ["batch", "claude-sonnet-5", ["claude-haiku-4-5"], ["summed"]],
  );
  const { smallest_prompt: smallest, largest_prompt: largest, tokens } = fetched;
  assert.ok(smallest !== null && largest !== null && tokens !== null);
  assert.deepEqual([smallest < largest, smallest + largest], [true, tokens.input_total]);
  assert.equal((await anthropic.messages.batches.list()).data.length, 1);
  await anthropic.messages.batches.delete(batch.id);
});

test("anthropic: files are Anthropic's for its clients, with its credential and its errors", async (t) => {
  const { anthropic, records } = await start(t);
  const file = await toAnthropicFile(Buffer.from("hello"), "a.txt", { type: "text/plain" });
  const stored = await anthropic.beta.files.upload({ file });
  assert.deepEqual([stored.type, stored.size_bytes], ["file", 5]);
  assert.equal((await anthropic.beta.files.list()).data.length, 1);
  assert.equal(await (await anthropic.beta.files.download(stored.id)).text(), "hello");
  assert.equal((await anthropic.beta.files.delete(stored.id)).type, "file_deleted");
  await assert.rejects(anthropic.beta.files.retrieveMetadata(stored.id), NoSuchFile);
  assert.deepEqual([records[0]?.response_id, records[0]?.usage], [stored.id, "none"]);
});
