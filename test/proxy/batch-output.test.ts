// The output file of a batch at OpenAI: its usage belongs to the batch, which only the batch's own object names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { dayFileName } from "../../src/core/ledger/day.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { onlyTo, startWithStored } from "../helpers/gate/gate-with-stored.ts";
import { useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import type { TestGate } from "../helpers/gate/gate.ts";
import { TODAY } from "../helpers/ledger/ledger.ts";
import { readRecord } from "../helpers/ledger/read-record.ts";
import { sendJson, type Script } from "../helpers/upstream/scripted-upstream.ts";

const lineOf = (input: number) => {
  const usage = { prompt_tokens: input, completion_tokens: 1, total_tokens: input + 1 };
  const body = { object: "chat.completion", model: "gpt-5.4", choices: [], usage };
  return `${JSON.stringify({ id: "batch_req_1", custom_id: "a", response: { status_code: 200, body } })}\n`;
};
const OUTPUT = lineOf(200_000) + lineOf(300_000);

/** Stores one batch, whose files are of its own, and says in a header which upstream answers. */
const service =
  (name: string): Script =>
  ({ method, url, headers }, res) => {
    const id = `batch_${name}`;
    if (method === "POST") return sendJson(res, { id, object: "batch", status: "validating" });
    if (url.startsWith("/v1/batches/"))
      return sendJson(res, {
        id,
        object: "batch",
        status: "completed",
        output_file_id: `file-${name}`,
        error_file_id: "file-errors",
      });
    const isPart = headers.range !== undefined;
    const body = Buffer.from(isPart ? OUTPUT.slice(0, lineOf(200_000).length) : OUTPUT);
    res.writeHead(isPart ? 206 : 200, {
      "content-type": "application/octet-stream",
      "content-length": headers["x-cut"] === undefined ? body.length : body.length + 1,
      "x-from": name,
    });
    if (headers["x-cut"] === undefined) res.end(body);
    else res.write(body, () => res.destroy());
  };

async function get({ url }: TestGate, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/t/codex/v1${path}`, { headers });
  const text = await response.text().catch(() => "cut");
  return { from: response.headers.get("x-from"), text };
}

async function start(t: TestContext, names: readonly string[] = ["a"], directory?: string) {
  const scripts = Object.fromEntries(names.map((name) => [name, service(name)]));
  const started = await startWithStored(t, scripts, directory);
  const { gate, directory: used } = started;
  const create = () =>
    fetch(`${gate.url}/t/codex/v1/batches`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    }).then((response) => response.text());
  const last = (): UsageRecord => {
    const lines = readFileSync(join(used, dayFileName(TODAY)), "utf8")
      .trim()
      .split("\n");
    return readRecord(lines.at(-1) ?? "");
  };
  return { ...started, create, last };
}

const seenIn = ({ usage, spend, response_id, largest_prompt }: UsageRecord) => [
  usage,
  spend,
  response_id,
  largest_prompt,
];

const READ = ["final", "attach_by_response_id", "batch_a", 200_000];
const UNREAD = ["none", "never", null, null];

test("the output of a batch brings the usage of the batch, and passes as it is", async (t) => {
  const { gate, create, last, searches } = await start(t);
  await create();
  await get(gate, "/batches/batch_a");
  assert.deepEqual([last().usage, last().output_file], ["absent", "file-a"]);
  assert.equal((await get(gate, "/files/file-a/content")).text, OUTPUT);
  assert.deepEqual(seenIn(last()), READ);
  assert.deepEqual(
    [last().route, last().model, last().service_tier, last().extra.length],
    ["/files/{id}/content", "gpt-5.4", "batch", 1],
  );
  assert.deepEqual(searches, []);
});

test("the file of errors, and a file of anything else, are not read", async (t) => {
  const { gate, create, last } = await start(t);
  await create();
  await get(gate, "/batches/batch_a");
  for (const id of ["file-errors", "file-other"]) {
    await get(gate, `/files/${id}/content`);
    assert.deepEqual(seenIn(last()), UNREAD);
  }
  await get(gate, "/files/file-a");
  assert.deepEqual(seenIn(last()), UNREAD);
});

test("a part of the output, and one that was cut, do not count as the whole", async (t) => {
  const { gate, create, last } = await start(t);
  await create();
  await get(gate, "/batches/batch_a");
  await get(gate, "/files/file-a/content", { range: "bytes=0-100" });
  assert.deepEqual([last().status, last().usage, last().tokens], [206, "absent", null]);
  assert.equal((await get(gate, "/files/file-a/content", { "x-cut": "1" })).text, "cut");
  assert.deepEqual([last().usage, last().outcome, last().cut_by], ["partial", "cut", "upstream"]);
});

test("after a restart, the ledger says of which batch a file is the output", async (t) => {
  const before = await start(t);
  await before.create();
  await get(before.gate, "/batches/batch_a");
  const after = await start(t, ["a"], before.directory);
  await get(after.gate, "/files/file-a/content");
  assert.deepEqual(seenIn(after.last()), READ);
  assert.deepEqual(after.searches, ["file-a"]);
});

test("the output is fetched where its batch is", async (t) => {
  const { gate, create } = await start(t, ["a", "b"]);
  useConfig(gate, { tools: onlyTo("b") });
  await create();
  await get(gate, "/batches/batch_b");
  useConfig(gate, { tools: {} });
  assert.equal((await get(gate, "/files/file-b/content")).from, "b");
});

test("a client of Anthropic's waits for no search", async (t) => {
  const { gate, searches, last } = await start(t);
  await get(gate, "/files/file_1/content", { "anthropic-version": "2023-06-01" });
  assert.deepEqual([searches, seenIn(last())], [[], UNREAD]);
});
