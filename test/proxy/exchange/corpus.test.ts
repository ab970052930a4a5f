import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request, type ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { CORPUS_MISSING, createRandom, listCorpus, readBody, type CorpusFile } from "../../core/usage/corpus.ts";
import { assertAsExpected } from "../../core/usage/expectation.ts";
import { startGate, type TestGate } from "../../helpers/gate/gate.ts";
import { startUpstream, type ScriptedUpstream } from "../../helpers/upstream/scripted-upstream.ts";

// The recorded bodies once more, now over real sockets and through the whole gate: what arrives is what was sent, and the
// record in the ledger is what the corpus expects. test/core/usage has the meter alone, byte by byte.

const skip = CORPUS_MISSING ?? false;
const random = createRandom(20_261_121);

/** Routes that the corpus has and a default gate has not. */
const EXTRA_ROUTES = [
  { method: "POST", path: "/responses/compact", auth: "bearer", dialect: "responses", spend: "count" },
  { method: "POST", path: "/responses/input_tokens", auth: "bearer", dialect: "responses", spend: "never" },
  {
    method: "GET",
    path: "/responses/{id}",
    auth: "bearer",
    dialect: "responses",
    spend: "attach_by_response_id",
  },
] as const;

const PATHS: Record<CorpusFile["operation"], Record<CorpusFile["api"], string>> = {
  inference: { messages: "/v1/messages", responses: "/v1/responses" },
  compact: { messages: "-", responses: "/v1/responses/compact" },
  count_tokens: { messages: "/v1/messages/count_tokens", responses: "/v1/responses/input_tokens" },
  fetch: { messages: "-", responses: "/v1/responses/resp_1" },
};

interface Setting {
  gate: TestGate;
  upstream: ScriptedUpstream;
}

async function start(t: TestContext): Promise<Setting> {
  const upstream = await startUpstream(t, () => {});
  const gate = await startGate(t, upstream.baseUrl, { upstream: { routes: [...EXTRA_ROUTES] } });
  return { gate, upstream };
}

/** Writes the pieces one by one, each in a turn of its own, then ends or breaks off. */
async function writePieces(res: ServerResponse, pieces: Buffer[], isCut: boolean): Promise<void> {
  for (const piece of pieces) {
    res.write(piece);
    await nextTurn();
  }
  if (isCut) res.destroy();
  else res.end();
}

/** One exchange of the file through the gate: what the client received, whether it was whole, and the record. */
async function exchange(
  { gate, upstream }: Setting,
  file: CorpusFile,
  pieces: Buffer[],
  { encoding = file.content_encoding, isCut = false } = {},
): Promise<{ received: Buffer; isWhole: boolean; record: UsageRecord }> {
  upstream.answer((_seen, res) => {
    const headers = { "content-type": file.content_type, ...(encoding && { "content-encoding": encoding }) };
    res.writeHead(file.http_status, headers);
    void writePieces(res, pieces, isCut);
  });
  const before = gate.ledger.records.length;
  const answer = await ask(gate.port, file);
  const record = (await gate.ledger.first(before + 1)).at(-1);
  assert.ok(record);
  return { ...answer, record };
}

function ask(port: number, file: CorpusFile): Promise<{ received: Buffer; isWhole: boolean }> {
  const path = PATHS[file.operation][file.api];
  const method = file.operation === "fetch" ? "GET" : "POST";
  const headers = { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const req = request({ port, host: "127.0.0.1", path, method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", () => {});
      res.on("close", () => resolve({ received: Buffer.concat(chunks), isWhole: res.complete }));
    });
    req.on("error", reject);
    req.end(method === "GET" ? "" : "{}");
  });
}

/** Cuts into pieces of 1 to `longest` bytes. */
function piecesOf(body: Buffer, longest: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const piece = body.subarray(at, at + longest());
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

function bytesOf(file: CorpusFile): Buffer {
  return readFileSync(new URL(`../../../../shared/corpus/${file.file}`, import.meta.url));
}

/** This Node cannot decode it: its usage must be absent then, and nothing else wrong. */
const isUndecodable = (file: CorpusFile) => readBody(file) === null;

function assertRecorded(record: UsageRecord, file: CorpusFile): void {
  if (isUndecodable(file)) {
    assert.deepEqual([record.usage, record.tokens, record.flags], ["absent", null, ["decode_failed"]]);
    return;
  }
  assertAsExpected(record, file.expected);
}

test(
  "every recorded body, whole and in random pieces, arrives unchanged and is recorded as expected",
  { skip },
  async (t) => {
    const setting = await start(t);
    for (const file of listCorpus()) {
      const body = bytesOf(file);
      const longest = Math.max(1, Math.ceil(body.length / 40));
      for (const pieces of [[body], piecesOf(body, () => 1 + Math.floor(random() * longest))]) {
        const { received, isWhole, record } = await exchange(setting, file, pieces);
        assert.ok(received.equals(body), file.file);
        assert.ok(isWhole, file.file);
        await t.test(`${file.file} in ${pieces.length}`, () => assertRecorded(record, file));
      }
    }
  },
);

test("small bodies sent byte by byte arrive unchanged and are recorded as expected", { skip }, async (t) => {
  const setting = await start(t);
  for (const file of listCorpus().filter((candidate) => bytesOf(candidate).length < 1200)) {
    const body = bytesOf(file);
    const { received, record } = await exchange(
      setting,
      file,
      piecesOf(body, () => 1),
    );
    assert.ok(received.equals(body), file.file);
    assertRecorded(record, file);
  }
});

test(
  "every body gzipped although nobody asked, in pieces of 7 bytes, is recorded as expected",
  { skip },
  async (t) => {
    const setting = await start(t);
    for (const file of listCorpus()) {
      const plain = readBody(file);
      if (plain === null || file.http_status >= 400) continue;
      const body = gzipSync(plain);
      const pieces = piecesOf(body, () => 7);
      const { received, record } = await exchange(setting, file, pieces, { encoding: "gzip" });
      assert.ok(received.equals(body), file.file);
      assertRecorded(record, file);
    }
  },
);

test(
  "a body cut anywhere is cut for the client, recorded once, and never final before its last word",
  { skip },
  async (t) => {
    const setting = await start(t);
    const lastWord = /"type": ?"(?:message_delta|response\.(?:completed|incomplete|failed))"/;
    for (const file of listCorpus().filter(({ content_encoding }) => content_encoding === null)) {
      const body = bytesOf(file);
      const at = Math.floor(random() * body.length);
      const part = body.subarray(0, at);
      const { received, isWhole, record } = await exchange(setting, file, [part], { isCut: true });
      // Of an error body the end is held back that could be the beginning of an echoed key.
      const expected = file.http_status < 400 ? part : part.subarray(0, received.length);
      assert.ok(received.equals(expected), file.file);
      assert.ok(!isWhole, file.file);
      if (!lastWord.test(part.toString())) assert.notEqual(record.usage, "final", `${file.file} at ${at}`);
    }
  },
);
