import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request, type ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import {
  CORPUS_MISSING,
  createRandom,
  listCorpus,
  readBody,
  wasBroken,
  type CorpusFile,
} from "../../core/usage/corpus.ts";
import { assertAsExpected } from "../../core/usage/expectation.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import type { TestGate } from "../../helpers/gate/gate.ts";
import type { ScriptedUpstream } from "../../helpers/upstream/scripted-upstream.ts";

// Sends the recorded bodies over real sockets through the whole gate: the client must receive what the upstream sent, and the
// record must be the one that the corpus expects. test/core/usage tests the meter alone, byte by byte.

const skip = CORPUS_MISSING ?? false;
const random = createRandom(20_261_121);

const PATHS: Record<CorpusFile["operation"], Record<CorpusFile["api"], string>> = {
  inference: { messages: "/v1/messages", responses: "/v1/responses", chat: "/v1/chat/completions" },
  compact: { messages: "-", responses: "/v1/responses/compact", chat: "-" },
  count_tokens: {
    messages: "/v1/messages/count_tokens",
    responses: "/v1/responses/input_tokens",
    chat: "-",
  },
  fetch: { messages: "-", responses: "/v1/responses/resp_1", chat: "-" },
};

interface Parties {
  gate: TestGate;
  upstream: ScriptedUpstream;
}

function start(t: TestContext): Promise<Parties> {
  return startGateWithUpstream(t, () => {});
}

/** Writes each chunk in its own turn of the event loop, then ends the response or breaks it off. */
async function writeChunks(res: ServerResponse, chunks: Buffer[], isCut: boolean): Promise<void> {
  for (const chunk of chunks) {
    res.write(chunk);
    await nextTurn();
  }
  if (isCut) res.destroy();
  else res.end();
}

/** Sends a body through the gate; returns what the client received, whether that was complete, and the record. */
async function exchange(
  { gate, upstream }: Parties,
  file: CorpusFile,
  chunks: Buffer[],
  { encoding = file.content_encoding, isCut = wasBroken(file) } = {},
): Promise<{ received: Buffer; isComplete: boolean; record: UsageRecord }> {
  upstream.respondWith((_seen, res) => {
    const headers = { "content-type": file.content_type, ...(encoding && { "content-encoding": encoding }) };
    res.writeHead(file.http_status, headers);
    void writeChunks(res, chunks, isCut);
  });
  const before = gate.ledger.records.length;
  const response = await ask(gate.port, file);
  const record = (await gate.ledger.first(before + 1)).at(-1);
  assert.ok(record);
  return { ...response, record };
}

function ask(port: number, file: CorpusFile): Promise<{ received: Buffer; isComplete: boolean }> {
  const path = PATHS[file.operation][file.api];
  const method = file.operation === "fetch" ? "GET" : "POST";
  const headers = { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const req = request({ port, host: "127.0.0.1", path, method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", () => {});
      res.on("close", () => resolve({ received: Buffer.concat(chunks), isComplete: res.complete }));
    });
    req.on("error", reject);
    req.end(method === "GET" ? "" : "{}");
  });
}

/** Splits a body into chunks, each as long as `nextLength` says. */
function splitBody(body: Buffer, nextLength: () => number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const chunk = body.subarray(at, at + nextLength());
    chunks.push(chunk);
    at += chunk.length;
  }
  return chunks;
}

function bytesOf(file: CorpusFile): Buffer {
  return readFileSync(new URL(`../../../../shared/corpus/${file.file}`, import.meta.url));
}

test(
  "every recorded body, in one chunk and in random chunks, reaches the client unchanged and is recorded as expected",
  { skip },
  async (t) => {
    const parties = await start(t);
    for (const file of listCorpus()) {
      const body = bytesOf(file);
      const longest = Math.max(1, Math.ceil(body.length / 40));
      for (const chunks of [[body], splitBody(body, () => 1 + Math.floor(random() * longest))]) {
        const { received, isComplete, record } = await exchange(parties, file, chunks);
        assert.ok(received.equals(body), file.file);
        assert.equal(isComplete, !wasBroken(file), file.file);
        await t.test(`${file.file} in ${chunks.length} chunks is recorded as expected`, () =>
          assertAsExpected(record, file.expected),
        );
      }
    }
  },
);

test(
  "small bodies sent byte by byte reach the client unchanged and are recorded as expected",
  { skip },
  async (t) => {
    const parties = await start(t);
    for (const file of listCorpus().filter((candidate) => bytesOf(candidate).length < 1200)) {
      const body = bytesOf(file);
      const { received, record } = await exchange(
        parties,
        file,
        splitBody(body, () => 1),
      );
      assert.ok(received.equals(body), file.file);
      assertAsExpected(record, file.expected);
    }
  },
);

test(
  "every body that the upstream gzips unasked, in chunks of 7 bytes, is recorded as expected",
  { skip },
  async (t) => {
    const parties = await start(t);
    for (const file of listCorpus()) {
      if (file.http_status >= 400) continue;
      const body = gzipSync(readBody(file));
      const chunks = splitBody(body, () => 7);
      const { received, record } = await exchange(parties, file, chunks, { encoding: "gzip" });
      assert.ok(received.equals(body), file.file);
      assertAsExpected(record, file.expected);
    }
  },
);

test(
  "a body that the upstream cuts anywhere is incomplete for the client, and its usage is final only after the event that reports it",
  { skip },
  async (t) => {
    const parties = await start(t);
    const finalEvent = /"type": ?"(?:message_delta|response\.(?:completed|incomplete|failed))"/;
    const typed = listCorpus().filter(
      ({ api, content_encoding }) => api !== "chat" && content_encoding === null,
    );
    for (const file of typed) {
      const body = bytesOf(file);
      const at = Math.floor(random() * body.length);
      const part = body.subarray(0, at);
      const { received, isComplete, record } = await exchange(parties, file, [part], { isCut: true });
      // The end of an error body is held back where it could be the beginning of an echoed key.
      const expected = file.http_status < 400 ? part : part.subarray(0, received.length);
      assert.ok(received.equals(expected), file.file);
      assert.ok(!isComplete, file.file);
      if (!finalEvent.test(part.toString())) assert.notEqual(record.usage, "final", `${file.file} at ${at}`);
    }
  },
);
