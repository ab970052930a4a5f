import { existsSync, readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import * as zlib from "node:zlib";
import { createMeter, type MeterSetup } from "../../../src/core/usage/meter.ts";
import type { MeterReading, Spend } from "../../../src/core/usage/reading.ts";
import { createZstdDecoder } from "../../../src/proxy/exchange/zstd-decoder.ts";

const DIRECTORY = new URL("../../../../shared/corpus/", import.meta.url);
const INDEX = new URL("index.json", DIRECTORY);
/** Chat Completions have an index of their own. */
const CHAT_INDEX = new URL("chat/index.json", DIRECTORY);

/** What the corpus expects of a file. Only the named fields are compared. */
export type Expected = Record<string, unknown>;

/** One recorded body. */
export interface CorpusFile {
  file: string;
  api: "messages" | "responses" | "chat";
  operation: "inference" | "compact" | "count_tokens" | "fetch";
  http_status: number;
  content_type: string;
  content_encoding: string | null;
  expected: Expected;
}

/** Why corpus tests cannot run; null when they can. */
export const CORPUS_MISSING = findMissing();

function findMissing(): string | null {
  const missing = [INDEX, CHAT_INDEX].find((index) => !existsSync(index));
  return missing === undefined ? null : `the recorded bodies are missing: ${missing.pathname}`;
}

/**
 * Calls of the service's tools that a body lists in its output, while its usage reports nothing of them. The corpus has only what the
 * usage reports.
 */
const LISTED_CALLS: Readonly<Record<string, Record<string, number>>> = {
  "anth-json-server-tool-cache-thinking.json": { code_execution: 2 },
  "anth-sse-code-exec-cache.sse": { code_execution: 2 },
  "anth-sse-code-execution.sse": { code_execution: 1 },
  "derived/frame-bom-comments-multiline-anth.sse": { code_execution: 1 },
  "oai-json-xai-cost.json": { image_generation: 1 },
  "oai-sse-code-interpreter.sse": { code_interpreter: 3 },
  "oai-sse-file-search.sse": { file_search: 1 },
  "oai-sse-web-search-cached.sse": { web_search: 1 },
  "derived/enc-br-oai.sse.br": { web_search: 1 },
  "derived/enc-zstd-oai.sse.zst": { web_search: 1 },
};

/** Lists the recorded bodies; none when the corpus is missing. */
export function listCorpus(): CorpusFile[] {
  if (CORPUS_MISSING !== null) return [];
  const chat = readIndex(CHAT_INDEX).map((file) => ({ ...file, file: `chat/${file.file}` }));
  return [...readIndex(INDEX), ...chat].map(withListedCalls);
}

function withListedCalls(file: CorpusFile): CorpusFile {
  const listed = LISTED_CALLS[file.file];
  if (listed === undefined) return file;
  const reported = file.expected["server_tools"] as Record<string, number>;
  return { ...file, expected: { ...file.expected, server_tools: { ...reported, ...listed } } };
}

function readIndex(index: URL): CorpusFile[] {
  return (JSON.parse(readFileSync(index, "utf8")) as { files: CorpusFile[] }).files;
}

/** True for a recording of a connection that broke. In the other dialects the events alone say so. */
export function wasBroken({ api, expected }: CorpusFile): boolean {
  return api === "chat" && expected["outcome"] === "cut";
}

/** The decoded bodies of the files in zstd, which Node decodes from 22.15 on only. */
const ZSTD_BODIES = new Map(
  await Promise.all(
    listCorpus()
      .filter(({ content_encoding }) => content_encoding === "zstd")
      .map(async ({ file }) => {
        const decoder = createZstdDecoder();
        decoder.end(readFileSync(new URL(file, DIRECTORY)));
        return [file, await buffer(decoder)] as const;
      }),
  ),
);

/** Returns the decoded body. */
export function readBody({ file, content_encoding }: CorpusFile): Buffer {
  const bytes = readFileSync(new URL(file, DIRECTORY));
  switch (content_encoding) {
    case null:
      return bytes;
    case "gzip":
      return zlib.gunzipSync(bytes);
    case "br":
      return zlib.brotliDecompressSync(bytes);
    case "zstd":
      return ZSTD_BODIES.get(file) ?? bytes;
    default:
      throw new Error(`unknown content encoding ${content_encoding}`);
  }
}

const SPEND: Record<CorpusFile["operation"], Spend> = {
  inference: "count",
  compact: "count",
  fetch: "attach_by_response_id",
  count_tokens: "never",
};

/** Returns the meter setup for the file's route and response head. */
export function setupOf(file: CorpusFile): MeterSetup {
  return {
    dialect: file.api,
    spend: SPEND[file.operation],
    status: file.http_status,
    contentType: file.content_type,
    inputIncludesCache: false,
  };
}

/** Reads a body that arrives in these chunks. */
export function meterChunks(setup: MeterSetup, chunks: Iterable<Buffer>, isWhole = true): MeterReading {
  const meter = createMeter(setup);
  for (const chunk of chunks) meter.feed(chunk);
  return meter.finish(isWhole);
}

/** Yields every byte separately, all in the same buffer, so that a meter that keeps a view of it fails. */
export function* singleBytes(body: Buffer): Generator<Buffer> {
  const chunk = Buffer.alloc(1);
  for (const byte of body) {
    chunk[0] = byte;
    yield chunk;
  }
}

/** Yields chunks of random length up to `longest`, all in one buffer that is overwritten after each. */
export function* randomPieces(body: Buffer, longest: number, random: () => number): Generator<Buffer> {
  const chunk = Buffer.alloc(longest);
  for (let at = 0; at < body.length;) {
    const length = body.copy(chunk, 0, at, at + 1 + Math.floor(random() * longest));
    yield chunk.subarray(0, length);
    chunk.fill(0x78);
    at += length;
  }
}

/** Returns a generator of numbers in [0, 1) that depends only on the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
