// The file with the responses of a batch at Google: its usage belongs to the batch, which only the batch itself names.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { startWithStored } from "../helpers/gate/gate-with-stored.ts";
import { dayFileName } from "../../src/core/ledger/day.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TODAY } from "../helpers/ledger/ledger.ts";
import { readRecord } from "../helpers/ledger/read-record.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const lineOf = (prompt: number) => {
  const usageMetadata = { promptTokenCount: prompt, candidatesTokenCount: 1, totalTokenCount: prompt + 1 };
  return `${JSON.stringify({ key: "a", response: { modelVersion: "gemini-2.5-pro", usageMetadata } })}\n`;
};
const OUTPUT = lineOf(100_000) + lineOf(300_000);

/** Stores one batch whose responses are in a file, to which a redirect leads. */
const service: Script = ({ method, url, headers }, res) => {
  if (method === "POST")
    return sendJson(res, { name: "batches/b-1", metadata: { state: "BATCH_STATE_PENDING" } });
  if (url.startsWith("/v1beta/batches/")) {
    const response = { responsesFile: "files/batch-b-1" };
    return sendJson(res, {
      name: "batches/b-1",
      metadata: { state: "BATCH_STATE_SUCCEEDED" },
      done: true,
      response,
    });
  }
  if (url.startsWith("/v1beta/files/")) {
    res.writeHead(302, { location: `https://${headers.host ?? ""}/download${url}` });
    return res.end();
  }
  res.writeHead(200, { "content-type": "application/octet-stream", "content-length": OUTPUT.length });
  return res.end(OUTPUT);
};

async function start(t: TestContext, directory?: string) {
  const started = await startWithStored(t, { google: service }, directory, ["gemini", "files"]);
  const records = (): UsageRecord[] =>
    readFileSync(join(started.directory, dayFileName(TODAY)), "utf8")
      .trim()
      .split("\n")
      .map(readRecord);
  const get = async (path: string) => (await fetch(`${started.gate.url}/t/codex${path}`)).text();
  const create = () =>
    fetch(`${started.gate.url}/t/codex/v1beta/models/gemini-2.5-pro:batchGenerateContent`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    }).then((response) => response.text());
  return { ...started, records, get, create };
}

const FETCH = "/v1beta/files/batch-b-1:download?alt=media";

const seenIn = ({ route, status, usage, spend, response_id: id, largest_prompt: size }: UsageRecord) => [
  `${route} ${status} ${usage} ${spend}`,
  id,
  size,
];

test("the file of a batch brings the usage of the batch, behind its redirect, and passes as it is", async (t) => {
  const { create, get, records, searches } = await start(t);
  await create();
  await get("/v1beta/batches/b-1");
  assert.equal(await get(FETCH), OUTPUT);
  assert.deepEqual(records().map(seenIn), [
    ["/v1beta/models/{id}:batchGenerateContent 200 pending attach_by_response_id", "b-1", null],
    ["/v1beta/batches/{id} 200 absent never", "b-1", null],
    ["/v1beta/files/{id}:download 302 absent never", "b-1", null],
    ["/download/v1beta/files/{id}:download 200 final attach_by_response_id", "b-1", 100_000],
  ]);
  assert.deepEqual(
    records().map(({ output_file: file }) => file),
    [null, "batch-b-1", null, null],
  );
  assert.deepEqual(searches, []);
});

test("a file of anything else is not read", async (t) => {
  const { create, get, records } = await start(t);
  await create();
  await get("/v1beta/batches/b-1");
  await get("/v1beta/files/f-9:download?alt=media");
  assert.deepEqual(records().slice(2).map(seenIn), [
    ["/v1beta/files/{id}:download 302 none never", null, null],
    ["/download/v1beta/files/{id}:download 200 none never", null, null],
  ]);
});

test("after a restart, the ledger says of which batch a file is", async (t) => {
  const before = await start(t);
  await before.create();
  await before.get("/v1beta/batches/b-1");
  const after = await start(t, before.directory);
  await after.get(`/download${FETCH}`);
  assert.deepEqual(after.records().at(-1)?.usage, "final");
  assert.deepEqual(after.searches, ["batch-b-1"]);
});
